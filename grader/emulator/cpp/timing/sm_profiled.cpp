// The simulation of sm.cpp with the calls to profile.cpp.
#define PROFILED true
#include "timing/sm.cpp"
