// What the programs of one run found of their code is put before those of the next.
#include "fake_tree.h"
#include "record/run/flag_scan_list.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <plumb/flag_scan_list.h>
#include <sys/stat.h>

using namespace plumb;
using namespace plumb::record;

namespace {

std::string entry(char first) { return first + std::string(sizeof(flag_scan::Entry) - 1, '\1'); }

struct Run {
    FakeTree folder;
    std::string path() const { return folder.root() + "/" + flag_scan::kFileName; }
    std::string list() const {
        std::ifstream file(path(), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void append(const std::string& entries) const { std::ofstream(path(), std::ios::app | std::ios::binary) << entries; }
};

struct Cache {
    FakeTree folder;
    Cache() { chmod(folder.root().c_str(), 0700); }
    void put(const Run& run) const {
        platform::MachineCache cache(folder.root(), "here", "boot 1");
        seed_flag_scan_list(cache, run.folder.root());
    }
    void keep(const Run& run) const {
        platform::MachineCache cache(folder.root(), "here", "boot 1");
        keep_flag_scan_list(cache, run.folder.root());
        cache.save();
    }
};

} // namespace

TEST_CASE("what was scanned for flags is known to later runs") {
    const Cache cache;
    const Run first, second, other;
    cache.put(first);
    CHECK(first.list().empty()); // nothing is known yet
    first.append(entry('a') + entry('b') + entry('a') + "torn");
    cache.keep(first);
    cache.put(second);
    CHECK(second.list() == entry('a') + entry('b'));
    second.append(entry('c'));
    cache.put(second); // a recorder that joins the run
    CHECK(second.list() == entry('a') + entry('b') + entry('c'));
    cache.keep(second);
    cache.put(other);
    CHECK(other.list() == entry('a') + entry('b') + entry('c'));
}

TEST_CASE("the list leaves room for what the next run finds") {
    const Cache cache;
    const Run first, second;
    std::string all;
    for (uint32_t i = 0; i < flag_scan::kEntriesMax; ++i) {
        flag_scan::Entry one{};
        one.segment_page = i;
        all.append(reinterpret_cast<const char*>(&one), sizeof one);
    }
    first.append(all);
    cache.keep(first);
    cache.put(second);
    CHECK(second.list() == all.substr(all.size() / 4)); // the latest
}
