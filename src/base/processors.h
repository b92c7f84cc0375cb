#ifndef ROUX_BASE_PROCESSORS_H
#define ROUX_BASE_PROCESSORS_H

/* How many processors this process may use, at least 1. One cheap call: sysconf() reads a file of
 * sysfs, which takes longer than all else that a small run asks the kernel for. */
unsigned processors_usable(void);

#endif
