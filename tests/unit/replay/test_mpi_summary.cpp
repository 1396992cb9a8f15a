// What the reports say of an MPI job's call sites.
#include "analysis/mpi_summary.h"
#include "reports/words/mpi_words.h"

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

struct Lines {
    std::vector<model::MpiCallSite> sites;
    std::vector<MpiSiteLine> lines;
    model::MpiJob job;

    static model::SourceFrame frame(const char* function, uint32_t line) {
        model::SourceFrame made;
        made.function = function;
        made.file = "/src/app.c";
        made.line = line;
        return made;
    }
    Lines() {
        sites.reserve(10); // lines point to them
        job.ranks.resize(2);
        job.ranks[0].elapsed_s = job.ranks[1].elapsed_s = 10;
    }
    void add(const char* call, std::vector<model::SourceFrame> callers, double time_s = 1) {
        model::MpiCallSite& site = sites.emplace_back();
        site.call = call;
        site.ranks = 2;
        site.time_s = time_s;
        const bool outside = site.call == "MPI_Init" || site.call == "MPI_Finalize";
        lines.push_back({&site, frame("comm", 3), std::move(callers), outside});
    }
    std::vector<std::string> telling() const {
        std::vector<const MpiSiteLine*> all;
        for (const MpiSiteLine& line : lines)
            all.push_back(&line);
        std::vector<std::string> texts;
        for (const auto& callers : telling_callers(all)) {
            std::string& text = texts.emplace_back();
            for (const model::SourceFrame* caller : callers)
                text += (text.empty() ? "" : " ") + caller->function;
        }
        return texts;
    }
};

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

TEST_CASE("lines that read the same are told apart by the nearest caller that does", "[mpi]") {
    Lines made;
    const model::SourceFrame wrapper = Lines::frame("wrapper", 10), solver = Lines::frame("solver", 20),
                             output = Lines::frame("output", 30), main = Lines::frame("main", 90);
    SECTION("behind a wrapper that all go through, and at once") {
        made.add("MPI_Allreduce", {wrapper, solver, main});
        made.add("MPI_Allreduce", {wrapper, output, main});
        made.add("MPI_Allreduce", {main});
        made.add("MPI_Barrier", {wrapper, solver, main}); // reads otherwise by itself
        CHECK(made.telling() == std::vector<std::string>{"solver", "output", "main", ""});
    }
    SECTION("where one name would stand for two") {
        made.add("MPI_Allreduce", {solver, main});
        made.add("MPI_Allreduce", {solver, output});
        made.add("MPI_Allreduce", {main, output});
        CHECK(made.telling() == std::vector<std::string>{"solver main", "output", "main"});
    }
    SECTION("the same way twice") {
        made.add("MPI_Allreduce", {solver, main});
        made.add("MPI_Allreduce", {solver, main});
        CHECK(made.telling() == std::vector<std::string>{"", ""});
    }
}

TEST_CASE("starting and ending MPI takes no place among the lines, and is reported in seconds", "[mpi]") {
    Lines made;
    made.add("MPI_Finalize", {}, 3);
    made.add("MPI_Init", {}, 2.4);
    made.add("MPI_Allreduce", {});
    made.add("MPI_Barrier", {});
    MpiSummary summary;
    summary.job = &made.job;
    summary.sites = made.lines;
    const auto lines = lines_within_job(summary, 1);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0]->site->call == "MPI_Allreduce");
    CHECK(start_and_end_sentence(summary) == "Not in these figures, mean of the ranks: MPI_Init 1.20 s, MPI_Finalize 1.50 s.");
    made.sites[0].time_s = made.sites[1].time_s = 0.01;
    CHECK(start_and_end_sentence(summary).empty());
}
