// How long each quantum of one CPU took, handed from the thread that works to the recorder. One writer, one reader, no lock:
// the writer never waits and makes no system call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::record {

class QuantaRing {
  public:
    static constexpr size_t kPlaces = 1u << 15; // a power of two

    QuantaRing() : places_(kPlaces, 1) {} // all pages are touched before the work begins

    // By the writer: the next quantum took this long. Where the reader is too late, quanta are summed up until it comes.
    void put(uint64_t duration_ns) {
        const uint64_t head = head_.load(std::memory_order_relaxed);
        if (head - tail_.load(std::memory_order_acquire) >= kPlaces) {
            unseen_ns_ += duration_ns;
            ++unseen_;
            return;
        }
        if (unseen_ > 0) { // takes this quantum's place, too: there is room for one
            places_[head % kPlaces] = kGap | (unseen_ns_ + duration_ns);
            all_unseen_.fetch_add(unseen_ + 1, std::memory_order_relaxed);
            unseen_ns_ = unseen_ = 0;
        } else {
            places_[head % kPlaces] = duration_ns;
        }
        head_.store(head + 1, std::memory_order_release);
    }

    // By the reader: how many were put so far, and hands out those before `end`: (duration_ns, is_gap); a gap stands for quanta
    // of which only the sum is known.
    uint64_t head() const { return head_.load(std::memory_order_acquire); }
    template <class Take> void take_until(uint64_t end, Take take) {
        uint64_t tail = tail_.load(std::memory_order_relaxed);
        for (; tail < end; ++tail)
            take(places_[tail % kPlaces] & ~kGap, (places_[tail % kPlaces] & kGap) != 0);
        tail_.store(tail, std::memory_order_release);
    }

    uint64_t unseen() const { return all_unseen_.load(std::memory_order_relaxed); } // quanta that went into gaps

  private:
    static constexpr uint64_t kGap = uint64_t{1} << 63;

    std::vector<uint64_t> places_;
    uint64_t unseen_ns_ = 0, unseen_ = 0; // the writer's
    std::atomic<uint64_t> all_unseen_{0};
    alignas(64) std::atomic<uint64_t> head_{0};
    alignas(64) std::atomic<uint64_t> tail_{0};
};

} // namespace plumb::record
