// Rings of all recorders of a node fit into what the kernel lets their user lock.
#include "fake_tree.h"
#include "record/perf/ring_plan.h"

#include <bit>
#include <catch2/catch.hpp>
#include <numeric>

using namespace plumb::record;

namespace {

constexpr size_t kPage = 4096, kWanted = 128;
constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB;

// What the kernel counts against the user once every recorder has mapped its rings: beyond each process's own limit.
uint64_t charged_to_user(size_t pages, size_t rings, size_t recorders, const LockedMemory& room) {
    const uint64_t each = rings * (pages + 1) * kPage;
    return recorders * (each > room.of_process_bytes ? each - room.of_process_bytes : 0);
}

std::vector<int> cpus(size_t count) {
    std::vector<int> list(count);
    std::iota(list.begin(), list.end(), 0);
    return list;
}

RingNeeds needs(size_t online, size_t allowed, size_t recorders) {
    return {.online = cpus(online), .allowed = cpus(allowed), .recorders = recorders, .wanted_pages = kWanted};
}

uint64_t taken(const RingPlan& plan, size_t threads) {
    return (plan.per_thread ? threads : plan.cpus.size()) * (plan.pages + 1) * kPage;
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

TEST_CASE("128 single-threaded ranks on 128 CPUs fit into 516 KiB and 8 MiB for all of them together", "[rings]") {
    const LockedMemory room{.of_user_bytes = 516 * kKiB, .of_process_bytes = 8 * kMiB / 128};
    for (const size_t bound_to : {1, 128}) {
        const RingPlan plan = plan_rings(needs(128, bound_to, 128), room, kPage);
        INFO("bound to " << bound_to << ", pages " << plan.pages);
        CHECK(128 * taken(plan, 1) <= 516 * kKiB + 8 * kMiB);
        CHECK(plan.per_thread == (bound_to == 128));
        CHECK((plan.per_thread ? 1 : plan.cpus.size()) * 128 == 128); // descriptors of all ranks: one each
    }
}

TEST_CASE("128 ranks of 8 threads on 128 CPUs fit without a limit of their own", "[rings]") {
    const LockedMemory room{.of_user_bytes = 128 * 516 * kKiB, .of_process_bytes = 0};
    const RingPlan plan = plan_rings(needs(128, 128, 128), room, kPage);
    CHECK(plan.per_thread);
    CHECK(128 * taken(plan, 8) <= room.of_user_bytes);
    const RingPlan bound = plan_rings(needs(128, 1, 128), room, kPage);
    CHECK(!bound.per_thread);
    CHECK(bound.cpus.size() == 1);
    CHECK(128 * taken(bound, 8) <= room.of_user_bytes);
}

TEST_CASE("ranks of a node do not open events on all its CPUs each", "[rings]") {
    const LockedMemory room{.of_user_bytes = 128 * 516 * kKiB, .of_process_bytes = 1ull << 40};
    CHECK(plan_rings(needs(128, 128, 128), room, kPage).per_thread);
    CHECK(plan_rings(needs(64, 4, 16), room, kPage).cpus == cpus(4));
    CHECK(!plan_rings(needs(64, 64, 16), room, kPage).per_thread);
}

TEST_CASE("a single recorder sees all CPUs, whatever its mask, on machines that are not wide", "[rings]") {
    const LockedMemory room{.of_user_bytes = 16 * 516 * kKiB, .of_process_bytes = 16 * kMiB};
    const RingPlan plan = plan_rings(needs(16, 1, 1), room, kPage);
    CHECK(plan.cpus == cpus(16));
    CHECK(!plan.per_thread);
    CHECK(plan.pages == kWanted);
    CHECK(plan.left_bytes == 0);
}

TEST_CASE("a recorder that knows no others is modest with memory that is not its own", "[rings]") {
    const LockedMemory room{.of_user_bytes = 2 * 516 * kKiB, .of_process_bytes = 0};
    const RingPlan plan = plan_rings(needs(2, 2, 1), room, kPage);
    CHECK(!plan.per_thread);
    CHECK(plan.left_bytes == 516 * kKiB);
    CHECK(taken(plan, 1) <= room.of_user_bytes / 7);
    CHECK(plan_rings(needs(2, 2, 1), {.of_user_bytes = 2 * 516 * kKiB, .of_process_bytes = 8 * kMiB}, kPage).left_bytes == 0);
}
