#include "base/processors.h"

#include <sched.h>
#include <unistd.h>

#include "base/lang.h"

unsigned processors_usable(void)
{
	cpu_set_t set;

	/* A machine with more than a set has room for. */
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return (unsigned)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
	return (unsigned)MAX(CPU_COUNT(&set), 1);
}
