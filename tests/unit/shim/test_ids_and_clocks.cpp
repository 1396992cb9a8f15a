#include "platform/os/ids_and_clocks.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/stat.h>

using namespace plumb::shim;

TEST_CASE("start ticks whatever the command is called") {
    const std::string tail = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21";
    for (const char* name : {"(app)", "(my app)", "(a) b) (c)", "()"})
        CHECK(parse_start_ticks(("42 " + std::string(name) + tail).c_str()) == 987654);
    CHECK(parse_start_ticks("42 (app) S 1 2 3") == 0);
    CHECK(parse_start_ticks("") == 0);
}

TEST_CASE("start ticks are read below any root") {
    char root[] = "/tmp/plumb-proc-XXXXXX";
    REQUIRE(mkdtemp(root));
    const std::string folder = std::string(root) + "/self";
    REQUIRE(mkdir(folder.c_str(), 0700) == 0);
    CHECK(process_start_ticks(root) == 0);
    CHECK(process_thread_count(root) == 0);
    std::ofstream(folder + "/stat") << "7 (x) R 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 12 0 555 0\n";
    CHECK(process_start_ticks(root) == 555);
    CHECK(process_thread_count(root) == 12);
    std::remove((folder + "/stat").c_str());
    std::remove(folder.c_str());
    std::remove(root);
}
