// One thread makes packets, another consumes them. Planted: each packet comes from the first one's heap and is freed by the
// second, which takes the lock of the first one's arena each time. Cured: packets go back to their maker by a second ring.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

struct Packet {
    uint32_t length = 0, id = 0;
    char data[1400];
};

class Ring { // of one writer and one reader, who tell each other of 32 packets at a time
  public:
    bool put(Packet* packet) {
        if (put_ - known_tail_ == kSlots && put_ - (known_tail_ = tail_.load(std::memory_order_acquire)) == kSlots)
            return false;
        slots_[put_++ % kSlots] = packet;
        if (put_ % kBatch == 0)
            head_.store(put_, std::memory_order_release);
        return true;
    }
    Packet* take() {
        if (taken_ == known_head_ && taken_ == (known_head_ = head_.load(std::memory_order_acquire)))
            return nullptr;
        Packet* packet = slots_[taken_++ % kSlots];
        if (taken_ % kBatch == 0)
            tail_.store(taken_, std::memory_order_release);
        return packet;
    }

  private:
    static constexpr size_t kSlots = 1024, kBatch = 32;
    alignas(128) std::atomic<size_t> head_{0};
    alignas(128) std::atomic<size_t> tail_{0};
    alignas(128) size_t put_ = 0, known_tail_ = 0;   // of the writer
    alignas(128) size_t taken_ = 0, known_head_ = 0; // of the reader
    alignas(128) Packet* slots_[kSlots] = {};
};

constexpr uint32_t kPackets = 6'000'000; // whole batches
static Ring g_full;
#ifdef CURED
static Ring g_empty;
#endif

static void make() {
    for (uint32_t i = 0; i < kPackets; i++) {
#ifdef CURED
        Packet* packet = g_empty.take();
        if (!packet)
            packet = new Packet;
#else
        Packet* packet = new Packet; // planted: heap-contention
#endif
        packet->id = i;
        packet->length = 100 + i % 1000;
        for (uint32_t k = 0; k < 64; k += 8)
            packet->data[k] = static_cast<char>(i + k);
        while (!g_full.put(packet))
            std::this_thread::yield();
    }
}

int main() {
    std::thread maker(make);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < kPackets;) {
        Packet* packet = g_full.take();
        if (!packet) {
            std::this_thread::yield();
            continue;
        }
        for (uint32_t k = 0; k < 64; k += 8)
            sum += static_cast<unsigned char>(packet->data[k]) * packet->length;
#ifdef CURED
        if (!g_empty.put(packet))
            delete packet;
#else
        delete packet; // planted: heap-contention
#endif
        i++;
    }
    maker.join();
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
