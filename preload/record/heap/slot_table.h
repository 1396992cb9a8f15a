// A hash table of 64-bit keys that several threads change at once, without locks. Signal-safe.
//
// What must hold: a key is in the table only while its block may be used, so at most one thread works on an entry's
// content. A slot goes 0 -> kBusy -> key -> 0; the content is written while it is busy. Keys are neither 0 nor 1. The
// same key may stand in it several times. All zero is a valid, empty table.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

// A key that finds no room in kTriedBuckets buckets of kWays slots, one cache line each, is not kept.
template <class Content, uint32_t kBucketBits, uint32_t kTriedBuckets> class SlotTable {
  public:
    // False: no room.
    bool insert(uint64_t key, const Content& content) {
        return at_places_of(key, [&](uint64_t* slot, Content& place) {
            uint64_t owner = __atomic_load_n(slot, __ATOMIC_RELAXED);
            if (owner != 0 || !__atomic_compare_exchange_n(slot, &owner, kBusy, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
                return false;
            __atomic_thread_fence(__ATOMIC_RELEASE); // who sees any of what follows sees that the slot is busy
            copy(content, place);
            __atomic_store_n(slot, key, __ATOMIC_RELEASE);
            return true;
        });
    }

    // Takes out the first entry of this key whose content is meant. By the thread that gives its block back.
    template <class IsMeant> bool take(uint64_t key, IsMeant is_meant) {
        return at_places_of(key, [&](uint64_t* slot, Content& place) {
            if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != key || !is_meant(load(place)))
                return false;
            __atomic_store_n(slot, 0, __ATOMIC_RELEASE);
            return true;
        });
    }

    // Looks only, for the first entry of this key whose content is meant. What was read in the middle of a change is not
    // believed.
    template <class IsMeant> bool find(uint64_t key, Content* content, IsMeant is_meant) const {
        return const_cast<SlotTable*>(this)->at_places_of(key, [&](const uint64_t* slot, const Content& place) {
            if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != key)
                return false;
            copy(place, *content);
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            return __atomic_load_n(slot, __ATOMIC_RELAXED) == key && is_meant(*content);
        });
    }

  private:
    static_assert(__is_trivially_copyable(Content) && sizeof(Content) % sizeof(uint64_t) == 0 && alignof(Content) == 8);
    typedef uint64_t __attribute__((may_alias)) Word;

    // Who only looks may read in the middle of a change, and finds out afterwards: the words are atomic, the whole is not.
    static void copy(const Content& from, Content& to) {
        const Word* const source = reinterpret_cast<const Word*>(&from);
        Word* const target = reinterpret_cast<Word*>(&to);
        for (size_t i = 0; i < sizeof(Content) / sizeof(Word); ++i)
            __atomic_store_n(&target[i], __atomic_load_n(&source[i], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    }
    static Content load(const Content& place) {
        Content content;
        copy(place, content);
        return content;
    }

    static constexpr uint64_t kBusy = 1;
    static constexpr uint32_t kBuckets = 1u << kBucketBits;
    static constexpr uint32_t kWays = 8;

    static uint32_t home_of(uint64_t key) { return static_cast<uint32_t>(key * 0x9e3779b97f4a7c15u >> (64 - kBucketBits)); }

    // Calls action(slot, content) for the places of this key until it returns true.
    template <class Action> bool at_places_of(uint64_t key, Action action) {
        for (uint32_t tried = 0; tried < kTriedBuckets; ++tried) {
            const uint32_t bucket = (home_of(key) + tried) & (kBuckets - 1);
            for (uint32_t way = 0; way < kWays; ++way)
                if (action(&slots_[bucket][way], contents_[bucket][way]))
                    return true;
        }
        return false;
    }

    uint64_t slots_[kBuckets][kWays];
    Content contents_[kBuckets][kWays];
};

} // namespace plumb::shim
