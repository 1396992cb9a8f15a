// Rings of all recorders of a node fit into what the kernel lets their user lock.
#include "fake_tree.h"
#include "record/perf/ring_plan.h"

#include <bit>
#include <catch2/catch.hpp>

using namespace plumb::record;

namespace {

constexpr size_t kPage = 4096, kWanted = 128;
constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB;

// What the kernel counts against the user once every recorder has mapped its rings: beyond each process's own limit.
uint64_t charged_to_user(size_t pages, size_t rings, size_t recorders, const LockedMemory& room) {
    const uint64_t each = rings * (pages + 1) * kPage;
    return recorders * (each > room.of_process_bytes ? each - room.of_process_bytes : 0);
}

} // namespace

TEST_CASE("one recorder on a small machine has the rings it wants") {
    CHECK(ring_pages(kWanted, 2, 1, {.of_user_bytes = 2 * 516 * kKiB, .of_process_bytes = 8 * kMiB}, kPage) == kWanted);
}

TEST_CASE("recorders of a full node share what their user may lock") {
    for (const size_t cpus : {2, 16, 64, 128, 256})
        for (const uint64_t own : {4 * kMiB, 8 * kMiB}) {
            const LockedMemory room{.of_user_bytes = cpus * 516 * kKiB, .of_process_bytes = own};
            const size_t pages = ring_pages(kWanted, cpus, cpus, room, kPage);
            INFO(cpus << " CPUs, " << own << " bytes a process: " << pages << " pages");
            CHECK(std::has_single_bit(pages));
            CHECK(charged_to_user(pages, cpus, cpus, room) <= room.of_user_bytes);
        }
}

TEST_CASE("128 ranks on 128 CPUs have rings of several pages") {
    const LockedMemory room{.of_user_bytes = 128 * 516 * kKiB, .of_process_bytes = 8 * kMiB};
    CHECK(ring_pages(kWanted, 128, 128, room, kPage) >= 8);
}

TEST_CASE("without a limit of its own each of 48 recorders on two CPUs has a page a ring") {
    const LockedMemory room{.of_user_bytes = 2 * 516 * kKiB, .of_process_bytes = 0};
    const size_t pages = ring_pages(kWanted, 2, 48, room, kPage);
    CHECK(pages == 1);
    CHECK(charged_to_user(pages, 2, 48, room) <= room.of_user_bytes);
}

TEST_CASE("there is always a ring to try") {
    CHECK(ring_pages(kWanted, 64, 1000, {}, kPage) == 1);
    CHECK(ring_pages(kWanted, 0, 0, {.of_user_bytes = kMiB, .of_process_bytes = 0}, kPage) >= 1);
}

TEST_CASE("what the kernel grants a user comes from its setting and the number of CPUs") {
    FakeTree tree;
    tree.write("proc/sys/kernel/perf_event_mlock_kb", "100\n");
    CHECK(LockedMemory::now(tree.root(), 4).of_user_bytes == 400 * kKiB);
    CHECK(LockedMemory::now(tree.root() + "/nowhere", 2).of_user_bytes == 2 * 516 * kKiB);
}
