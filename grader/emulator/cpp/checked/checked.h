// The checked mode compares every access of a warp with earlier accesses. Only in this mode does a
// context have a CheckedState.
#pragma once

#include "memory/counting.h"

// Watches an access that passed its checks; a store's data is at the context's `words`.
void watch_access(Context &context, const Warp &warp, Access access, const Slot &slot,
                  uint32_t instruction, uint32_t mask);

// Removes the tags of the last block's shared memory.
void start_block(CheckedState &state, uint64_t linear);
// Orders all earlier accesses of the block's threads before all later accesses.
void end_epoch(CheckedState &state);

// The fields of a tag: see layouts/checked.py.
struct Tag {
    uint64_t value;

    uint32_t thread() const { return value & THREAD_MASK; }
    uint32_t lane() const { return thread() % WARP_LANES; }
    uint32_t warp() const { return thread() / WARP_LANES; }
    uint32_t instruction() const { return value >> INSTRUCTION_SHIFT & INSTRUCTION_MASK; }
    uint32_t detail() const { return value >> DETAIL_SHIFT & DETAIL_MASK; }
    bool flag() const { return value >> FLAG_SHIFT & 1; }
    uint64_t owner() const { return value >> OWNER_SHIFT; }
    bool exists() const { return value != 0; }
};

constexpr uint64_t FLAG = uint64_t(1) << FLAG_SHIFT;

// The tag of a copy that a lane starts, without its time.
inline uint64_t tag_of(const Warp &warp, uint32_t instruction, uint32_t lane)
{
    return FLAG | uint64_t(instruction) << INSTRUCTION_SHIFT | (warp.index * WARP_LANES + lane);
}

// An access of the checked mode. `shift`: log2 of the granule.
struct CheckedAccess {
    Context &context;
    CheckedState &state;
    const Warp &warp;
    Access access;
    uint32_t instruction, shift;
    uint8_t traits;

    bool shared() const { return access.space == Space::SHARED; }
    bool reads() const { return access.load || access.atomic; }
    bool has(uint32_t trait) const { return traits & trait; }
    bool plain() const { return !has(Trait::ATOMIC); }
    // A copy that arrives later.
    bool asynchronous() const { return shared() && !access.load && has(Trait::ASYNC); }
    uint32_t granules() const { return access.width >> shift ? access.width >> shift : 1; }

    // The index of an address's granule, and its tags.
    uint64_t place(uint64_t address) const
    {
        return (shared() ? address - context.shared_base : address) >> shift;
    }
    Tags *tags() const
    {
        return reinterpret_cast<Tags *>(shared() ? state.shared_tags : state.global_tags);
    }
    Tags &tags_at(uint64_t address) const { return tags()[place(address)]; }
    uint32_t *ticket_owner(uint64_t address) const
    {
        uint64_t ticket_owners = shared() ? state.shared_ticket_owners : state.global_ticket_owners;
        return reinterpret_cast<uint32_t *>(ticket_owners) + place(address);
    }
    // The number of a ticket's owner: see layouts/checked.py.
    uint32_t ticket_owner_number() const
    {
        return shared() ? warp.index + 1 : uint32_t(state.block);
    }
    // Of an address's granule and those behind it: see layouts/checked.py.
    uint32_t *shared_calm(uint64_t address) const { return state.shared_calm + place(address); }
    uint8_t *global_calm(uint64_t address) const
    {
        return host_pointer(state.global_calm + place(address));
    }
    // The granule is not calm any more.
    void stir(uint64_t address) const
    {
        if (shared())
            *shared_calm(address) = 0;
        else
            *global_calm(address) = 0;
    }
    // Marks of the written bytes of global memory.
    uint8_t *written(uint64_t address) const { return host_pointer(state.written + address); }
};

// The tag of an access, in its lane 0.
uint64_t common_tag(const CheckedAccess &checked);

// ordinary.cpp: passes an access that needs no exact rules; false: nothing is done.
bool pass_ordinary(const CheckedAccess &checked, const Pattern &pattern, uint32_t mask);
// Marks the granules that are calm after a load, of lanes whose granules are not suspicious.
void mark_calm(const CheckedAccess &checked, uint32_t mask);

// cluster_races.cpp: the same for an access to shared memory in a cluster, with those of its other
// blocks.
void watch_cluster(Context &context, const Warp &warp, Access access, uint32_t instruction,
                   uint32_t mask);

constexpr uint32_t OWNERS_BLOCK = ~0u;

// findings.cpp: note a finding, the first of its code at this instruction. `others_block`: the
// block of the other access; OWNERS_BLOCK: the tag has it.
void report(const Context &context, uint32_t code, uint32_t instruction, Tag own, Tag other,
            uint64_t address, uint32_t others_block = OWNERS_BLOCK, uint32_t mask = 0);
// Whether an access of a lane changes memory; each read and each bulk copy counts as a change.
bool changes_memory(const CheckedAccess &checked, uint32_t lane);
// Report what a lane does wrong by the exact rules, lanes of one store that leave
// different values at one address, and lanes that leave the array that the program means.
void judge(const CheckedAccess &checked, uint32_t lane);
void report_collisions(const CheckedAccess &checked, uint32_t mask);
void report_overrun(const CheckedAccess &checked, uint32_t mask);
// Reports lanes whose accesses conflict with pending bulk copies or asynchronous stores.
void report_work(const CheckedAccess &checked, uint32_t mask);
