// The toolkit's header, and names that CUDA 13 removed.
#pragma once
#include "driver_types.h"

#include "toolkit/cuda_runtime_api.h"

#include "removed_names.h"
