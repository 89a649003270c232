// The first thread of each block adds 1 to one of `words` counters by compare-and-swap until it
// stands: blocks that come to one word at the same time try again and again.
// run: --size blocks=132 --size words=1 --output counts=index:1024*words:uint32
// run: --size blocks=1056 --size words=1 --output counts=index:1024*words:uint32
// run: --size blocks=16896 --size words=32 --output counts=index:1024*words:uint32
// launch: swaps_of_words<<<blocks, 32>>>(counts, words)

__global__ void swaps_of_words(unsigned* counts, unsigned words)
{
    if (threadIdx.x != 0)
        return;
    unsigned* word = counts + blockIdx.x % words * 1024;
    unsigned seen = *(volatile unsigned*)word, old;
    do {
        old = seen;
        seen = atomicCAS(word, old, old + 1);
    } while (seen != old);
}
