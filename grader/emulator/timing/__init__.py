"""The timing model: the time of a launch on a GPU, from its machine code, the traces of a few
blocks, and the GPU's figures.

    figures.py          figures of a GPU, and fitted parameters
    pipes.py            pipes and latencies; each opcode's row names a pipe
    code_table.py       pipes, latencies and control bits of a kernel's instructions
    timing_records.py   the records that Python and the runtime share
    streams.py          traces -> instructions and accesses in order
    representative.py   the choice of traced blocks that represent the launch
    parameters.py       an SM's parameters in cycles, from the figures and the launch
    sm.py               a simulated SM: warps, blocks, sub-partitions, L1
    footprint.py        the global memory that a launch accesses
    work.py             input of the model: everything about a launch that no GPU affects
    launch_time.py      a launch's time; bounds.py finds the resources that limit it
    profile.py          stall breakdown: cycles of warps by the states of stalls.py
    kinds.py            kinds of launches; intervals.py has the model's error for each

The expensive parts are in C++, in the runtime (cpp/timing/).

The model simulates one SM, because bounds per resource are not sufficient: the same padded tile
takes 0.33 ms with one element per thread and 0.19 ms with four, although no resource's bound
differs. The machine code contains the order of a warp's waits. The other SMs are modelled as a
share of L2 and DRAM, and as the load that delays reads in DRAM's queues: the load at which the
simulated SM causes its share of it.
"""
