// What the reports say of an MPI job's call sites.
#include "reports/mpi_summary.h"

#include <plumb/trace_format.h>

#include <bit>
#include <catch2/catch.hpp>

using namespace plumb;

namespace {

model::MpiCallSite site_of(uint32_t kind, uint64_t sent_bytes, uint64_t received_bytes) {
    model::MpiCallSite site;
    site.kind = kind;
    site.sent_bytes = sent_bytes;
    site.received_bytes = received_bytes;
    return site;
}

void count(model::MpiCallSite& site, uint64_t bytes, uint64_t times) {
    site.sizes[static_cast<size_t>(std::bit_width(bytes))] += times;
}

} // namespace

TEST_CASE("the mean size is that of a message or of a rank's part of a collective", "[mpi]") {
    model::MpiCallSite exchange = site_of(trace::kMpiSend | trace::kMpiReceive, 3000, 3000);
    count(exchange, 1000, 6);
    CHECK(mean_bytes(exchange) == 1000);

    model::MpiCallSite broadcast = site_of(trace::kMpiCollectiveCall | trace::kMpiFromRoot, 36, 72); // of 3 ranks
    count(broadcast, 36, 3);
    CHECK(mean_bytes(broadcast) == 36);

    model::MpiCallSite scatter = site_of(trace::kMpiCollectiveCall | trace::kMpiFromRoot, 300, 300);
    count(scatter, 100, 3);
    CHECK(mean_bytes(scatter) == 100);

    model::MpiCallSite gather = site_of(trace::kMpiCollectiveCall | trace::kMpiToRoot, 300, 300);
    count(gather, 100, 3);
    CHECK(mean_bytes(gather) == 100);

    model::MpiCallSite reduction = site_of(trace::kMpiCollectiveCall | trace::kMpiSynchronising, 24, 24);
    count(reduction, 8, 3);
    CHECK(mean_bytes(reduction) == 8);

    model::MpiCallSite file = site_of(trace::kMpiFile, 4096, 0);
    count(file, 1024, 4);
    count(file, 0, 2); // moved nothing
    CHECK(mean_bytes(file) == 1024);
    CHECK(mean_bytes(site_of(trace::kMpiWait, 0, 0)) == 0);
}

TEST_CASE("old records counted a broadcast at its root only", "[mpi]") {
    model::MpiCallSite broadcast = site_of(trace::kMpiCollectiveCall | trace::kMpiFromRoot, 36, 72);
    count(broadcast, 36, 1);
    count(broadcast, 0, 2);
    CHECK(mean_bytes(broadcast) == 36);
}
