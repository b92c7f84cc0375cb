#include "data/yaml.h"
