// A ring of messages in a mapped buffer, of 4096 bytes each, whose sequence number is written last. Planted: the ring begins
// behind a control word of 4 bytes, so that each sequence number crosses into the next page. Cured: the control word takes 8.
#include <cstdint>
#include <cstdio>
#include <algorithm>
#include <memory>
#include <new>

constexpr std::size_t kSlot = 4096, kSlots = 12, kBytes = kSlot * (kSlots + 1);
constexpr std::uint64_t kRounds = 9'000'000;

#ifdef CURED
constexpr std::size_t kControl = 8;
#else
constexpr std::size_t kControl = 4;
#endif

struct Message {
    std::uint32_t kind, length;
    char text[4072];
    std::uint32_t sum;
    std::uint32_t unused;
};

int main() {
    char* buffer = static_cast<char*>(::operator new(kBytes, std::align_val_t(kSlot)));
    std::fill(buffer, buffer + kBytes, '\0');
    std::uint64_t length = 0;
    for (std::uint64_t round = 0; round < kRounds; ++round)
        for (std::size_t slot = 0; slot < kSlots; ++slot) {
            char* at = buffer + kControl + slot * kSlot;
            auto* message = reinterpret_cast<Message*>(at);
            message->kind = static_cast<std::uint32_t>(slot);
            message->length = static_cast<std::uint32_t>(round & 511);
            auto* sequence = reinterpret_cast<std::uint64_t*>(at + kSlot - 8);
            *sequence = round; // planted: line-split-access
            length += message->length;
        }
    std::printf("%lu\n", static_cast<unsigned long>(length));
    ::operator delete(buffer, std::align_val_t(kSlot));
}
