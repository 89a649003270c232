"""The timing model: what a launch would take on a GPU, from the machine code, traces of a few
blocks, and the GPU's figures.

    figures.py          what a GPU is made of, and the fitted parameters
    pipes.py            pipes and latencies, of which an opcode's row names one
    code_table.py       the same of a kernel's instructions, with their control bits
    layout.py           the records that Python and the runtime share
    streams.py          traces -> instructions and accesses in order
    representative.py   which of the traced blocks stand for the launch
    parameters.py       an SM's parameters in cycles, from the figures and the launch
    sm.py               a simulated SM: warps, blocks, sub-partitions, L1
    footprint.py        what a launch touches in global memory
    work.py             what a launch did, as far as its time is modelled from it
    launch_time.py      a launch's time; bounds.py tells what binds it
    profile.py          where the cycles of warps go, by the states of stalls.py
    kinds.py            what kind of launch it is; intervals.py how well the model knows these

What takes time is in C++, in the runtime:

    timing_traces.cpp   expands traces
    timing_sm.cpp       simulates an SM: choosing a warp, issuing, barriers, blocks
    timing_memory.cpp   simulates its memory: load/store unit, L1, L2, DRAM
    timing_profile.cpp  tells each cycle of each warp, in timing_sm_profiled.cpp alone

A simulation of one SM was chosen over bounds per resource: the same padded tile takes 0.33 ms with
one element a thread and 0.19 ms with four, although no resource's bound tells them apart, and the
order of what a warp waits for is in the machine code. The other SMs are there as a share of L2 and
DRAM, and as the load that makes a read wait in DRAM's queues: that load is the one at which the
simulated SM makes its part of it.
"""
