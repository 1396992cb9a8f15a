#include "platform/os/mapping_query.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace plumb::shim;

static std::string text(const Mapping& mapping) {
    char words[100];
    std::snprintf(words, sizeof words, "%llx-%llx %d%d%d%d %llx %llx %llu ", static_cast<unsigned long long>(mapping.start),
                  static_cast<unsigned long long>(mapping.end), mapping.executable, mapping.writable, mapping.shared,
                  mapping.deleted, static_cast<unsigned long long>(mapping.file_offset),
                  static_cast<unsigned long long>(mapping.device), static_cast<unsigned long long>(mapping.inode));
    return words + std::string(mapping.path, mapping.path_length);
}

TEST_CASE("what the kernel says about one mapping is what its list says") {
    char file[] = "/tmp/plumb-query-XXXXXX";
    const int opened = mkstemp(file);
    REQUIRE(opened >= 0);
    REQUIRE(ftruncate(opened, 8192) == 0);
    void* const deleted = mmap(nullptr, 8192, PROT_READ | PROT_EXEC, MAP_SHARED, opened, 0);
    close(opened);
    unlink(file);
    REQUIRE(deleted != MAP_FAILED);

    const int maps = open("/proc/self/maps", O_RDONLY);
    REQUIRE(maps >= 0);
    static char path[4200], list[8192];
    Mapping mapping;
    const int error = query_mapping(maps, reinterpret_cast<uint64_t>(deleted) + 5000, path, sizeof path, &mapping);
    if (error == -ENOTTY || error == -ENOSYS) { // the latter: in qemu's user mode
        close(maps);
        WARN("this kernel is older than 6.11");
        return;
    }
    REQUIRE(error == 0);
    CHECK(mapping.deleted);
    CHECK(std::string(mapping.path, mapping.path_length) == file);
    CHECK(query_mapping(maps, 1, path, sizeof path, &mapping) == -ENOENT);
    CHECK(query_mapping(maps, reinterpret_cast<uint64_t>(deleted), path, 4, &mapping) == -ENAMETOOLONG);

    struct Compared {
        int maps;
        int count;
    } compared{maps, 0};
    const auto compare = [](const Mapping& listed, void* data) {
        auto& all = *static_cast<Compared*>(data);
        Mapping asked;
        if (listed.executable && listed.inode != 0) {
            REQUIRE(query_mapping(all.maps, listed.start, path, sizeof path, &asked) == 0);
            CHECK(text(asked) == text(listed));
            ++all.count;
        }
        return true;
    };
    CHECK(for_each_mapping("/proc/self/maps", list, sizeof list, compare, &compared) == 0);
    CHECK(compared.count >= 3);
    close(maps);
    munmap(deleted, 8192);
}
