// Waits that end with messages from the own host and from others, and what is learnt of messages from them.
#include "replay/messages/transfer_fit.h"
#include "replay/messages/wait_kinds.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::replay;

namespace {

Job two_hosts_of_two() {
    Job job;
    for (uint32_t row = 0; row < 4; ++row)
        job.ranks.push_back({.rank = static_cast<int>(row), .process = row, .host = row / 2, .clock = {}, .comms = {}});
    return job;
}

} // namespace

TEST_CASE("a wait is mixed where it ends with messages from the own host and from another", "[wait_kinds]") {
    const Job job = two_hosts_of_two();
    WaitKinds kinds(job, false);
    kinds.take(0, 1, 100, 7);
    kinds.take(0, 2, 100, 7); // the same Waitall of rank 0
    kinds.take(0, 1, 200, 7);
    kinds.take(1, 0, 100, 7);
    kinds.take(1, 3, 300, 7);
    kinds.settle();
    CHECK(kinds.are_mixed(0, 100, 7));
    CHECK_FALSE(kinds.are_mixed(0, 200, 7));
    CHECK_FALSE(kinds.are_mixed(1, 100, 7));
    CHECK_FALSE(kinds.are_mixed(1, 300, 7));
    CHECK_FALSE(kinds.are_mixed(3, 100, 7));
}

TEST_CASE("of thinned messages all waits at a call site count as one", "[wait_kinds]") {
    const Job job = two_hosts_of_two();
    WaitKinds kinds(job, true);
    kinds.take(0, 1, 100, 7);
    kinds.take(0, 2, 200, 7);
    kinds.take(0, 1, 300, 8);
    kinds.settle();
    CHECK(kinds.are_mixed(0, 100, 7));
    CHECK_FALSE(kinds.are_mixed(0, 300, 8));
}

TEST_CASE("what a message within a host takes is not learnt from waits for other hosts", "[wait_kinds]") {
    const Job job = two_hosts_of_two();
    MatchedMessages messages;
    for (int i = 0; i < 40; ++i) {
        messages.late_senders.push_back({.receiver = 0, .sender = 1, .transfer = 1'000'000, .bytes = 1000, .is_mixed = true});
        messages.late_senders.push_back({.receiver = 0, .sender = 2, .transfer = 1'000'000, .bytes = 1000, .is_mixed = true});
    }
    CHECK_FALSE(fit_transfers(job, messages).within_host.known);
    CHECK(fit_transfers(job, messages).between_hosts.latency_s == Approx(1e-3));
    for (int i = 0; i < 10; ++i)
        messages.late_senders.push_back({.receiver = 1, .sender = 0, .transfer = 20'000, .bytes = 1000});
    const TransferFits fits = fit_transfers(job, messages);
    CHECK(fits.within_host.latency_s == Approx(2e-5));
    CHECK(fits.within_host.messages == 10);
}
