// The probes answer on any machine: a state, a reason, and a way out when something is missing.
#include "platform/probes/probe.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <set>
#include <string>
#include <unistd.h>

using namespace plumb::platform;

TEST_CASE("a trial that faults does not take the tool along") {
    CHECK(run_in_child([] { return 7; }) == 7);
    CHECK(run_in_child([] {
              signal(SIGSEGV, SIG_DFL); // a sanitizer's handler would exit instead
              raise(SIGSEGV);
              return 0;
          }) == -SIGSEGV);
}

TEST_CASE("a trial that hangs is ended") {
    CHECK(run_in_child([] {
              for (;;)
                  pause();
              return 0;
          }) == -SIGALRM);
}

TEST_CASE("every source of evidence is tried once and says what came of it") {
    std::set<std::string> names;
    for (const auto probes : {sampling_probes(), memory_probes(), alignment_probes(), mpi_probes(), system_probes()})
        for (const Probe& probe : probes) {
            INFO(probe.source);
            CHECK(names.insert(probe.source).second);
            CHECK_FALSE(probe.run().why.empty());
        }
    CHECK(names.size() >= 15);
}
