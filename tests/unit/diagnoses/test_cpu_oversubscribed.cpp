// What stacking costs, worked out by hand for runs whose cured length is known.
#include "diagnoses/cpu/placement_replay.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

double evidence_number(const Finding& finding, const char* key) { return std::get<double>(finding.evidence.at(key)); }

SyntheticRun stacked(int workers, int cpus, double seconds = 8) {
    SyntheticRun made(seconds, cpus);
    made.add_thread(0, 0, 0); // the main thread sleeps in a join
    for (int worker = 0; worker < workers; worker++)
        made.add_thread(0, 1.0 / workers, 1 - 1.0 / workers).allowed_cpus = {0};
    made.finish();
    return made;
}

} // namespace

TEST_CASE("four workers pinned to one CPU of two cost half of the run") {
    SyntheticRun made = stacked(4, 2);
    const std::vector<Finding> findings = made.diagnose("cpu-oversubscribed");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(finding.severity == Severity::high);
    CHECK(finding.cost.seconds == Approx(4).epsilon(0.01));
    CHECK(finding.cost.fraction == Approx(0.5).epsilon(0.01));
    CHECK(finding.subject.kind == "cpu");
    CHECK(finding.subject.name == "0");
    CHECK(std::get<std::vector<std::string>>(finding.subject.details.at("threads")).size() == 4);
    CHECK(finding.title == "4 threads are pinned so that they share CPU 0 while CPU 1 has room");
    CHECK(evidence_number(finding, "waiting_seconds") == Approx(24).epsilon(0.01));
    CHECK(evidence_number(finding, "idle_cpu_seconds") == Approx(8).epsilon(0.01));
    CHECK(evidence_number(finding, "pinned_waiting_fraction") == Approx(1));
    CHECK(finding.advice[0].command == "plumb run --pin=scatter -- ./app 'big file'");
    CHECK(finding.confidence > 0.9);
}

TEST_CASE("in the cured run the threads share all CPUs in small slices") {
    const auto cost = [](int workers, int cpus) {
        SyntheticRun made = stacked(workers, cpus);
        const auto findings = made.diagnose("cpu-oversubscribed");
        REQUIRE(findings.size() == 1);
        return findings[0].cost.fraction;
    };
    CHECK(cost(2, 2) == Approx(1.0 / 2).epsilon(0.01));
    CHECK(cost(3, 2) == Approx(1.0 / 2).epsilon(0.01)); // each is on a CPU two thirds of the time
    CHECK(cost(3, 4) == Approx(2.0 / 3).epsilon(0.01)); // no faster than one worker alone
    CHECK(cost(5, 4) == Approx(3.0 / 4).epsilon(0.01));
    CHECK(cost(8, 4) == Approx(3.0 / 4).epsilon(0.01));
}

TEST_CASE("a run whose slowest thread was never delayed gains nothing beyond it") {
    SyntheticRun made(8, 3);
    made.add_thread(0, 0.5, 0.5).allowed_cpus = {0};
    made.add_thread(0, 0.5, 0.5).allowed_cpus = {0};
    made.add_thread(1, 1, 0, 0, 6).allowed_cpus = {1}; // done after 6 of 8 s
    made.finish();
    const auto findings = made.diagnose("cpu-oversubscribed");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(2).epsilon(0.02));
}

TEST_CASE("a free thread that waits at a barrier follows the delayed ones") {
    SyntheticRun made(8, 3);
    made.add_thread(0, 0.5, 0.5).allowed_cpus = {0};
    made.add_thread(0, 0.5, 0.5).allowed_cpus = {0};
    made.add_thread(1, 0.5, 0).allowed_cpus = {1}; // same work, then asleep at the barrier
    made.finish();
    const auto findings = made.diagnose("cpu-oversubscribed");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(4).epsilon(0.02));
}

TEST_CASE("programs that leave CPUs to the run are not what it waits for") {
    for (const bool leaves : {false, true}) {
        SyntheticRun made(8, 2);
        for (int cpu = 0; cpu < 2; cpu++) {
            made.add_thread(cpu, 0.5, 0.5);
            made.add_other("background", cpu, 0.5);
            made.run.hosts[0].others.back().leaves_cpus = leaves;
        }
        made.finish();
        const auto findings = made.diagnose("cpu-oversubscribed");
        CHECK(findings.size() == (leaves ? 0 : 1));
        if (!leaves)
            CHECK(findings.at(0).title.find("background") != std::string::npos);
    }
}

TEST_CASE("workers that sleep half of the time lose only the waiting") {
    SyntheticRun made(8, 2);
    for (int worker = 0; worker < 2; worker++)
        made.add_thread(0, 0.3, 0.3).allowed_cpus = {0};
    made.finish();
    const auto findings = made.diagnose("cpu-oversubscribed");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(2.4).epsilon(0.02));
}

TEST_CASE("a spread run, a busy machine of one's own and short runs yield no cost") {
    SECTION("one worker a CPU") {
        SyntheticRun made(8, 2);
        made.add_thread(0, 0.99, 0.005);
        made.add_thread(1, 0.99, 0.005);
        made.finish();
        CHECK(made.diagnose("cpu-oversubscribed").empty());
    }
    SECTION("more threads than CPUs, none idle: said as info only") {
        SyntheticRun made(8, 2);
        for (int worker = 0; worker < 4; worker++)
            made.add_thread(worker % 2, 0.5, 0.5);
        made.finish();
        const auto findings = made.diagnose("cpu-oversubscribed");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::info);
        CHECK(findings[0].cost.seconds == 0);
    }
    SECTION("waiting and idling need not have coincided for threads that were free to move") {
        SyntheticRun made(8, 2);
        made.add_thread(0, 0.4, 0.2);
        made.add_thread(0, 0.4, 0.2);
        made.add_thread(1, 0.6, 0);
        made.finish();
        CHECK(made.diagnose("cpu-oversubscribed").empty());
    }
    SECTION("shorter than half a second") {
        SyntheticRun made = stacked(4, 2, 0.4);
        CHECK(made.diagnose("cpu-oversubscribed").empty());
    }
    SECTION("nothing was watched") {
        SyntheticRun made(8, 2);
        made.add_thread(0, 0.5, 0.5).intervals.clear();
        CHECK(made.diagnose("cpu-oversubscribed").empty());
    }
}

TEST_CASE("threads left on one CPU by the scheduler count while another CPU surely idled") {
    SyntheticRun made(8, 2);
    made.add_thread(0, 0.5, 0.5);
    made.add_thread(0, 0.5, 0.5);
    made.finish();
    const auto findings = made.diagnose("cpu-oversubscribed");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::high);
    CHECK(findings[0].cost.seconds > 3.2); // clock ticks are given the benefit of the doubt
    CHECK(findings[0].cost.seconds <= 4.01);
    CHECK(evidence_number(findings[0], "pinned_waiting_fraction") == 0);
}

TEST_CASE("waiting behind another program") {
    SECTION("with room elsewhere: a matter of placement") {
        SyntheticRun made(8, 2);
        made.add_thread(0, 0.5, 0.5).allowed_cpus = {0};
        made.add_other("cc1plus", 0, 0.5);
        made.finish();
        const auto findings = made.diagnose("cpu-oversubscribed");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].cost.seconds == Approx(4).epsilon(0.02));
        CHECK(std::get<std::string>(findings[0].subject.details.at("other_programs")) == "cc1plus (4.0 s)");
        CHECK(findings[0].title.find("behind other programs on CPU 0 while CPU 1 has room") != std::string::npos);
    }
    SECTION("without room: a matter of the machine") {
        SyntheticRun made(8, 1);
        made.add_thread(0, 0.5, 0.5);
        made.add_other("cc1plus", 0, 0.5);
        made.finish();
        const auto findings = made.diagnose("cpu-oversubscribed");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].cost.seconds == Approx(4).epsilon(0.02));
        CHECK(findings[0].title.find("cc1plus") != std::string::npos);
        CHECK(findings[0].advice[0].applies == "system");
    }
    SECTION("time that nobody is known to have used is not blamed on others") {
        SyntheticRun made(8, 1);
        made.add_thread(0, 0.5, 0.5);
        made.add_other("cc1plus", 0, 0.5);
        made.run.hosts[0].others.clear(); // it was the run's own short-lived children
        made.finish();
        for (const Finding& finding : made.diagnose("cpu-oversubscribed"))
            CHECK(finding.severity == Severity::info);
    }
}

TEST_CASE("ranks that wait for one that shares its CPU lose what their replay says, once") {
    const auto job_that_loses = [](SyntheticRun& made, double lost_s) {
        model::MpiJob job;
        job.elapsed_s = 8;
        job.noise.replayed = true;
        job.noise.lost_s = lost_s;
        model::NoiseTaker taker;
        taker.kind = model::NoiseTaker::Kind::programs;
        taker.names = {"cc1plus"};
        taker.hosts = taker.losses.cpus_per_node = 1;
        taker.preemptions = 400;
        taker.taken_s = 4; // of one CPU, half of the time: no noise
        taker.lost_s = lost_s;
        job.noise.takers = {taker};
        made.run.mpi_jobs = {job};
    };
    const auto costs = [](SyntheticRun& made) {
        double sum_s = 0;
        for (const Finding& finding : made.diagnose("cpu-oversubscribed"))
            sum_s += finding.severity == Severity::info ? 0 : finding.cost.seconds;
        return sum_s;
    };
    SECTION("a CPU that others share, and none with room") {
        SyntheticRun made(8, 1);
        made.add_thread(0, 0.9, 0.1);
        made.add_other("cc1plus", 0, 0.1);
        made.finish();
        const double alone_s = costs(made);
        job_that_loses(made, 3);
        CHECK(alone_s < 1);
        CHECK(costs(made) == Approx(3));
        CHECK(made.diagnose("cpu-oversubscribed").at(0).gain.how.find("collectives of all ranks") != std::string::npos);
    }
    SECTION("what a better placement spares is not said twice") {
        SyntheticRun made(8, 2);
        made.add_thread(0, 0.5, 0.5).allowed_cpus = {0};
        made.add_other("cc1plus", 0, 0.5);
        made.finish();
        const double alone_s = costs(made);
        job_that_loses(made, 4);
        CHECK(alone_s == Approx(4).epsilon(0.02));
        CHECK(costs(made) == Approx(alone_s));
    }
    SECTION("time that nobody is known to have used") {
        SyntheticRun made(8, 1);
        made.add_thread(0, 0.9, 0.1);
        made.add_other("cc1plus", 0, 0.1);
        made.run.hosts[0].others.clear();
        made.finish();
        job_that_loses(made, 3);
        CHECK(costs(made) == 0);
    }
}

TEST_CASE("where no CPU is idle, free threads gain nothing by another placement") {
    SyntheticRun made(8, 2);
    for (int cpu = 0; cpu < 2; cpu++) {
        made.add_thread(cpu, 0.5, 0.5);
        made.add_other("cc1plus", cpu, 0.5);
    }
    // Other programs take now more of one CPU and now more of the other: what the one thread would win the other would lose.
    for (size_t worker = 0; worker < 2; worker++) {
        model::Thread& thread = made.run.processes[0].threads[worker];
        for (size_t index = 0; index < thread.intervals.size(); index++) {
            model::ThreadInterval& interval = thread.intervals[index];
            const uint64_t length_ns = interval.end_ns - interval.begin_ns;
            interval.run_ns = length_ns / 10 * ((index / 4 + worker) % 2 == 0 ? 8 : 2);
            interval.run_delay_ns = length_ns - interval.run_ns;
        }
    }
    made.finish();
    const auto findings = made.diagnose("cpu-oversubscribed");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].title.find("Other programs take CPU time") != std::string::npos);
}

TEST_CASE("pinned threads would win their share of a CPU that another program uses") {
    SyntheticRun made(8, 2);
    for (int worker = 0; worker < 4; worker++)
        made.add_thread(0, 0.25, 0.75).allowed_cpus = {0};
    made.add_other("cc1plus", 1, 1);
    made.finish();
    const auto findings = made.diagnose("cpu-oversubscribed");
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].cost.seconds == Approx(3.2).epsilon(0.02)); // they share CPU 0 and two thirds of CPU 1
    CHECK(findings[0].title == "4 threads are pinned so that they share CPU 0 while none of them may use CPU 1");
    CHECK(findings[1].cost.seconds == Approx(0.8).epsilon(0.02)); // and all of CPU 1, were the other program gone
    CHECK(findings[1].title.find("cc1plus") != std::string::npos);
}

TEST_CASE("a CPU whose busy time was read too late was not idle") {
    SyntheticRun made(8, 2);
    for (int worker = 0; worker < 4; worker++)
        made.add_thread(worker % 2, 0.5, 0.5);
    made.finish();
    for (model::CpuInterval& interval : made.run.hosts[0].cpu_intervals) {
        CHECK(interval.idle_ns == 0);
        interval.user_ns /= 4; // the rest turns up in another interval
    }
    const auto findings = made.diagnose("cpu-oversubscribed");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::info);
}

TEST_CASE("threads pinned one by one are not pinned together, whatever runs on their CPUs for a moment") {
    const auto title_where_both_may_use = [](const model::CpuSet& first, const model::CpuSet& second) {
        SyntheticRun made(1, 2);
        made.add_thread(0, 0.5, 0.12).allowed_cpus = first;
        made.add_thread(second.front(), 0.5, 0.12).allowed_cpus = second;
        made.finish();
        const std::vector<Finding> findings = made.diagnose("cpu-oversubscribed");
        return findings.empty() ? std::string() : findings[0].title;
    };
    CHECK(title_where_both_may_use({0}, {0}).find("2 threads are pinned so that they share CPU 0") == 0);
    CHECK(title_where_both_may_use({0}, {1}).find("pinned") == std::string::npos);
}

TEST_CASE("copies in processes of their own are called processes") {
    SyntheticRun made(8, 4);
    made.add_thread(2, 0.5, 0.5).allowed_cpus = {2};
    made.add_process("app");
    made.add_thread(2, 0.5, 0.5).allowed_cpus = {2};
    made.finish();
    const auto findings = made.diagnose("cpu-oversubscribed");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject.name == "2");
    CHECK(findings[0].title == "2 processes are pinned so that they share CPU 2 while CPUs 0, 1 and 3 have room");
}

TEST_CASE("threads that plumb spread evenly are not called stacked when one CPU is done first") {
    // Two and two; CPU 1 is done after 5 of 8 s because it is faster.
    const auto findings_of = [](std::vector<int> placed_on) {
        SyntheticRun made(8, 2);
        for (int cpu : placed_on) {
            const double share = 1.0 / static_cast<double>(std::count(placed_on.begin(), placed_on.end(), cpu));
            model::Thread& thread = made.add_thread(cpu, share, 1 - share, 0, cpu == 0 ? 8 : 5);
            thread.allowed_cpus = {cpu};
            thread.placement.emplace().cpu = cpu;
        }
        made.finish();
        return made.diagnose("cpu-oversubscribed");
    };
    const auto even = findings_of({0, 0, 1, 1});
    REQUIRE(even.size() == 1);
    CHECK(even[0].severity == Severity::info);
    CHECK(even[0].cost.seconds > 0.5); // reported all the same
    CHECK(even[0].title.find("pinned to each CPU") != std::string::npos);

    const auto stacked = findings_of({0, 0, 0}); // --pin with a list that names one CPU alone
    REQUIRE(stacked.size() == 1);
    CHECK(stacked[0].severity == Severity::high);
}
