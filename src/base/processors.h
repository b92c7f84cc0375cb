#pragma once

/* How many processors this process may use, at least 1. sysconf() would open and read a file of
 * sysfs for that, in every run. */
unsigned processors_usable(void);
