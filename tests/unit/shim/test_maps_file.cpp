#include "platform/os/maps_file.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace plumb::shim;

static bool parse(const std::string& line, Mapping* mapping) {
    return parse_mapping(line.data(), line.data() + line.size(), mapping);
}

TEST_CASE("a line of /proc/PID/maps") {
    Mapping mapping;
    const std::string line =
        "7f1c2a000000-7f1c2a1b3000 r-xp 0002a000 fd:1f 1234567                    /opt/my app/lib one.so";
    REQUIRE(parse(line, &mapping));
    CHECK(mapping.start == 0x7f1c2a000000);
    CHECK(mapping.end == 0x7f1c2a1b3000);
    CHECK(mapping.file_offset == 0x2a000);
    CHECK(mapping.device == (uint64_t{0xfd} << 32 | 0x1f));
    CHECK(mapping.inode == 1234567);
    CHECK(mapping.executable);
    CHECK_FALSE(mapping.deleted);
    CHECK(std::string(mapping.path, mapping.path_length) == "/opt/my app/lib one.so");
}

TEST_CASE("deleted files and anonymous memory") {
    Mapping mapping;
    const std::string gone = "1000-2000 r-xp 00000000 08:01 7 /tmp/gone.so (deleted)";
    REQUIRE(parse(gone, &mapping));
    CHECK(mapping.deleted);
    CHECK(std::string(mapping.path, mapping.path_length) == "/tmp/gone.so");
    const std::string anonymous = "1000-2000 rw-p 00000000 00:00 0 ";
    REQUIRE(parse(anonymous, &mapping));
    CHECK(mapping.path_length == 0);
    CHECK_FALSE(mapping.executable);
}

TEST_CASE("what is no such line is refused") {
    Mapping mapping;
    for (const char* line : {"", "1000", "1000-2000", "1000-2000 r-xp", "xyz-2000 r-xp 0 00:00 0",
                             "11112222333344445-2000 r-xp 0 00:00 0 "})
        CHECK_FALSE(parse(line, &mapping));
}

TEST_CASE("lines that straddle the buffer's end are put together, longer ones skipped") {
    char path[] = "/tmp/plumb-maps-XXXXXX";
    const int descriptor = mkstemp(path);
    REQUIRE(descriptor >= 0);
    close(descriptor);
    {
        std::ofstream file(path);
        for (int i = 1; i <= 20; ++i)
            file << i << "000-" << i << "800 r-xp 00000000 00:00 0 /some/library/number/" << i << ".so\n";
        file << "1-2 r-xp 00000000 00:00 0 /" << std::string(500, 'x') << "\n";
        file << "a000-b000 r-xp 00000000 00:00 0 /last\n";
    }
    std::vector<std::string> seen;
    char buffer[200];
    const auto collect = [](const Mapping& mapping, void* to) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(mapping.path, mapping.path_length);
        return true;
    };
    CHECK(for_each_mapping(path, buffer, sizeof buffer, collect, &seen) == 0);
    CHECK(std::count_if(seen.begin(), seen.end(),
                        [](const std::string& name) { return name.rfind("/some/library/number/", 0) == 0; }) == 20);
    CHECK(seen.back() == "/last");
    unlink(path);
    CHECK(for_each_mapping("/nonexistent", buffer, sizeof buffer, collect, &seen) < 0);
}
