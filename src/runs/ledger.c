#include "runs/ledger.h"
