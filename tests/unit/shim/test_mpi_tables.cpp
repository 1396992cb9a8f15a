// The tables behind the recording of MPI: keys, requests, ranks, channels, places of events.
#include "fake_mpi.h"
#include "fake_trace.h"
#include "record/mpi/rank.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>

using namespace plumb;
using namespace plumb::shim::mpi;
using shim::Guard;

TEST_CASE("a table of keys behaves like a map", "[mpi]") {
    KeyTable table{};
    std::map<uint64_t, uint32_t> truth;
    std::mt19937 random(1);
    for (int i = 0; i < 200'000; ++i) {
        const uint64_t key = (random() % 3000) * 0x100000000u; // handles are regular, not random
        if (random() % 3 == 0) {
            CHECK(table.erase(key) == (truth.erase(key) == 1));
        } else {
            const uint32_t value = random();
            CHECK(table.put(key, value % UINT32_MAX, 10'000));
            truth[key] = value % UINT32_MAX;
        }
        const uint64_t other = (random() % 3000) * 0x100000000u;
        const auto found = truth.find(other);
        REQUIRE(table.find(other) == (found == truth.end() ? KeyTable::kNone : found->second));
    }
    CHECK(table.count() == truth.size());
    table.clear();
    CHECK(table.count() == 0);
    CHECK(table.put(1, 1, 1));
    CHECK_FALSE(table.put(2, 2, 1));
    table.clear();
}

TEST_CASE("requests of equal handles complete in the order in which they began", "[mpi]") {
    Requests requests{};
    std::map<Handle, std::deque<uint64_t>> truth;
    std::mt19937 random(2);
    size_t living = 0;
    for (uint64_t i = 1; i <= 200'000; ++i) {
        const Handle handle = 1 + random() % 40;
        auto& queue = truth[handle];
        if (random() % 2 && living < 3000) {
            Operation* const operation = requests.add(handle);
            REQUIRE(operation);
            operation->sequence = i;
            queue.push_back(i);
            ++living;
        } else if (Operation* const operation = requests.find(handle)) {
            REQUIRE_FALSE(queue.empty());
            REQUIRE(operation->sequence == queue.front());
            requests.remove(handle);
            queue.pop_front();
            --living;
        } else {
            REQUIRE(queue.empty());
        }
        REQUIRE(requests.count() == living);
    }
}

TEST_CASE("more requests than there is room for are refused, and room comes back", "[mpi]") {
    auto requests = std::make_unique<Requests>();
    for (uint32_t i = 0; i < Requests::kMax; ++i)
        REQUIRE(requests->add(i + 1));
    CHECK_FALSE(requests->add(1));
    requests->remove(5);
    CHECK(requests->add(7));
}

TEST_CASE("regular groups need no table", "[mpi]") {
    RankMap map{};
    const int32_t row[] = {4, 5, 6, 7}, column[] = {1, 5, 9}, odd[] = {3, 1, 2}, foreign[] = {0, -32766};
    map.set(row, 4);
    CHECK((!map.table && map.world_rank(3) == 7 && map.world_rank(4) == -1 && map.world_rank(-2) == -1));
    map.set(column, 3);
    CHECK((!map.table && map.world_rank(2) == 9));
    map.set(odd, 3);
    CHECK((map.table && map.world_rank(0) == 3 && map.world_rank(2) == 2));
    CHECK(hash_of_ranks(map) == hash_of_ranks(odd, 3));
    map.release();
    map.set(foreign, 2);
    CHECK((!map.known && map.world_rank(0) == -1));
}

namespace {

void store(CollectivePlaces& places, const Guard& guard, uint64_t sequence) {
    trace::MpiCollective event{};
    event.sequence = sequence;
    event.site = 1;
    places.store(guard, event);
}

// The sequences that are left of `count` on each of several communicators.
std::vector<uint64_t> left_of(uint64_t count, uint32_t places) {
    test::fake_trace() = {};
    auto kept = std::make_unique<CollectivePlaces>();
    kept->set_limit(places);
    const Guard guard;
    for (uint64_t i = 0; i < count; ++i)
        if (kept->keeps(i))
            store(*kept, guard, i);
    std::vector<uint64_t> sequences;
    for (const auto& record : test::fake_trace().events<trace::MpiCollective>(trace::RecordType::MpiCollective))
        sequences.push_back(record.sequence);
    std::ranges::sort(sequences);
    CHECK(sequences.size() <= places);
    for (const uint64_t sequence : sequences)
        CHECK(sequence % kept->stride() == 0);
    // None is missing among the multiples of the stride.
    CHECK(sequences.size() == (count + kept->stride() - 1) / kept->stride());
    return sequences;
}

} // namespace

TEST_CASE("places are thinned in the same way however many events there were", "[mpi]") {
    CHECK(left_of(1000, 1024).size() == 1000);
    const auto few = left_of(5000, 1024), many = left_of(100'000, 1024);
    CHECK(few.size() > 512);
    CHECK(many.size() > 512);
    const uint64_t stride = many[1];
    std::vector<uint64_t> common;
    std::ranges::copy_if(few, std::back_inserter(common), [&](uint64_t sequence) { return sequence % stride == 0; });
    CHECK(std::ranges::includes(many, common));
}

TEST_CASE("a full file keeps the events it has room for", "[mpi]") {
    test::fake_trace() = {};
    auto kept = std::make_unique<CollectivePlaces>();
    kept->set_limit(32768);
    const Guard guard;
    for (uint64_t i = 0; i < 700; ++i)
        store(*kept, guard, i);
    test::fake_trace().full = true;
    for (uint64_t i = 700; i < 100'000; ++i)
        if (kept->keeps(i))
            store(*kept, guard, i);
    const auto records = test::fake_trace().events<trace::MpiCollective>(trace::RecordType::MpiCollective);
    CHECK(records.size() > 512);
    CHECK(records.size() <= 1024);
    CHECK(kept->stride() >= 64);
    test::fake_trace() = {};
}

TEST_CASE("both ends of a channel number its messages alike", "[mpi]") {
    Comm mine{}, yours{};
    mine.id = 3;
    yours.id = 8; // ids are private
    mine.facts.group_hash = yours.facts.group_hash = 77;
    auto sender = std::make_unique<Channels>(), receiver = std::make_unique<Channels>();
    uint64_t odd = 0;
    for (int32_t tag = 0; tag < 2000; ++tag)
        for (int i = 0; i < 3; ++i) {
            const auto sent = sender->next(mine, 4, 2, tag, true), received = receiver->next(yours, 4, 2, tag, false);
            REQUIRE((sent.known && received.known && sent.sequence == received.sequence));
            odd += i == 0 && sent.sequence % 2;
        }
    CHECK((odd > 800 && odd < 1200)); // tags that are used once are thinned, too
    const auto first = receiver->next(yours, 4, 2, 5, false);
    receiver->take_back(yours, 4, 2, 5, first.sequence);
    CHECK(receiver->next(yours, 4, 2, 5, false).sequence == first.sequence);
    CHECK_FALSE(receiver->next(yours, -1, 2, 5, false).known);
    for (int32_t tag = 2000; tag < 20'000; ++tag)
        sender->next(mine, 4, 2, tag, true);
    CHECK_FALSE(sender->next(mine, 4, 2, 30'000, true).known);
}
