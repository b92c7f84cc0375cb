#pragma once

#include "remote/writer.h"

/* A thread that ends everything that this process has started, and then the process, once nothing
 * has been on the disk for `lease_ms`: the loop does that sooner, unless it hangs in a look at the
 * shared directory, or in writing why it leaves. False: no thread can be had. */
bool lease_guard(struct writer *w, uint64_t lease_ms);
