// What one process has learned of an image's code, another one of the run reads from the run directory.
#include "record/align/code/flag_scan_cache.h"
#include "record/process/settings.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace plumb::shim;

namespace {

BuildId id_of(uint8_t first) {
    BuildId id = {};
    id.size = sizeof id.bytes;
    id.bytes[0] = first;
    return id;
}

} // namespace

TEST_CASE("what was scanned for flags is known to all processes of the run") {
    char folder[] = "/tmp/plumb-test-XXXXXX";
    REQUIRE(mkdtemp(folder));
    const std::string run = std::string("PLUMB_RUN=") + folder;
    const char* const environment[] = {run.c_str(), nullptr};
    settings.read(environment);

    CHECK_FALSE(is_known_flag_free(id_of(1), 0x1000)); // no file yet
    if (const pid_t child = fork(); child == 0) {
        remember_flag_free(id_of(1), 0x1000);
        _exit(0);
    } else {
        int status = -1;
        REQUIRE(waitpid(child, &status, 0) == child);
        REQUIRE(status == 0);
    }
    CHECK(is_known_flag_free(id_of(1), 0x1000));
    CHECK_FALSE(is_known_flag_free(id_of(1), 0x2000)); // another segment of it
    CHECK_FALSE(is_known_flag_free(id_of(2), 0x1000));
    BuildId none = {}, other_size = id_of(1);
    other_size.size = 8;
    remember_flag_free(none, 0x1000);
    remember_flag_free(other_size, 0x1000);
    CHECK_FALSE(is_known_flag_free(none, 0x1000));
    CHECK_FALSE(is_known_flag_free(other_size, 0x1000));

    // A torn end, as a full disk leaves it, hides nothing before it and matches nothing itself.
    const std::string list = std::string(folder) + "/.flag-scan";
    CHECK(std::filesystem::file_size(list) == 24);
    std::ofstream(list, std::ios::app | std::ios::binary) << std::string(10, '\2');
    CHECK_FALSE(is_known_flag_free(id_of(3), 0x1000));
    CHECK(is_known_flag_free(id_of(1), 0x1000));

    std::filesystem::remove_all(folder);
    const char* const nothing[] = {nullptr};
    settings.read(nothing);
    CHECK_FALSE(is_known_flag_free(id_of(4), 0x1000)); // not under plumb: nothing to read
}
