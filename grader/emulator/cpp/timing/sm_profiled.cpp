// The simulation of timing_sm.cpp with timing_profile.cpp looking on.
#define PROFILED true
#include "timing/sm.cpp"
