#include "platform/code/near_code.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <iterator>
#include <sys/mman.h>

using namespace plumb::shim;

namespace {

constexpr uint64_t kPage = 4096, kPieceBytes = 48;

// Reserved address space, `pages` of it. Its parts are given free one by one, so that nothing else gets there before.
uint64_t reserve(uint64_t pages) {
    static const uint64_t first = allocate_near_code({1 << 20, 1ull << 46}, kPieceBytes, 1); // makes its tables
    REQUIRE(first != 0);
    void* const space = mmap(nullptr, pages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(space != MAP_FAILED);
    return reinterpret_cast<uint64_t>(space);
}

void give_free(uint64_t address, uint64_t pages) {
    REQUIRE(munmap(reinterpret_cast<void*>(address), pages * kPage) == 0);
}

} // namespace

TEST_CASE("near code begins within its range, wherever in a page that is") {
    const uint64_t offsets[] = {0, 16, 100, 2048, 4096 - 256, 4096 - 64, 4096 - 48, 4096 - 32, 4096 - 16, 4096 - 12, 4095};
    const uint64_t space = reserve(3 * std::size(offsets));
    uint16_t owner = 1;
    for (uint64_t i = 0; i < std::size(offsets); ++i) {
        INFO("range from " << offsets[i]);
        const uint64_t low = space + 3 * i * kPage + offsets[i];
        give_free(space + 3 * i * kPage, 2);
        const uint64_t piece = allocate_near_code({low, low + 256}, kPieceBytes, ++owner);
        REQUIRE(piece != 0);
        CHECK(piece >= low);
        CHECK(piece < low + 256);
        CHECK(piece % 16 == 0);
        CHECK(owner_of_near_code(piece) == owner);
        CHECK(owner_of_near_code(piece + kPieceBytes - 1) == owner);
        std::memset(reinterpret_cast<void*>(piece), 0x90, kPieceBytes); // writable to its end
    }
}

TEST_CASE("near code leaves mappings alone") {
    const uint64_t space = reserve(3);
    give_free(space + kPage, 1);
    CHECK(allocate_near_code({space, space + 256}, kPieceBytes, 1) == 0);
    CHECK(allocate_near_code({space + 2 * kPage - 16, space + 2 * kPage}, kPieceBytes, 1) == 0);
    const uint64_t low = space + kPage - 100; // nothing free but what lies behind the first page
    const uint64_t piece = allocate_near_code({low, low + 256}, kPieceBytes, 1);
    CHECK(piece == space + kPage);
}
