#include "base/file-system.h"

#include <sys/vfs.h>

#include "base/lang.h"

/* The numbers of statfs(2), and of file systems that its headers do not name. */
static const uint32_t networks[] = {
	0x6969,     /* NFS */
	0x517b,     /* SMB */
	0xff534d42, /* CIFS */
	0xfe534d42, /* SMB 2 */
	0x00c36400, /* Ceph */
	0x0bd00bd0, /* Lustre */
	0x47504653, /* GPFS */
	0x19830326, /* BeeGFS */
	0x5346414f, /* AFS */
	0x6b414653, /* kAFS */
	0x01021997, /* 9P */
	0x65735546, /* FUSE */
	0x0187,     /* autofs */
};

bool file_system_type_is_network(uint32_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(networks); i++)
		if (type == networks[i])
			return true;
	return false;
}

bool file_system_is_network(const char *path)
{
	struct statfs st;

	return statfs(path, &st) < 0 || file_system_type_is_network((uint32_t)st.f_type);
}

bool file_system_is_network_at(int fd)
{
	struct statfs st;

	return fstatfs(fd, &st) < 0 || file_system_type_is_network((uint32_t)st.f_type);
}
