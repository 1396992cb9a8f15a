// What reports quote from: debug info can name any file of the reader's as a source.
#include "symbols/shown_sources.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace plumb::symbols;
namespace fs = std::filesystem;

namespace {

struct Folder {
    Folder() {
        char name[] = "/tmp/plumb-sources-XXXXXX";
        path = mkdtemp(name);
    }
    ~Folder() { fs::remove_all(path); }
    std::string file(const std::string& name) {
        const fs::path whole = path / name;
        fs::create_directories(whole.parent_path());
        std::ofstream(whole) << "text\n";
        return whole.string();
    }
    fs::path path;
};

} // namespace

TEST_CASE("source code of this user may be quoted") {
    Folder folder;
    CHECK(is_plain_source(folder.file("src/solve.cpp")));
    CHECK(is_plain_source(folder.file("src/SOLVE.F90")));
    CHECK_FALSE(is_plain_source((folder.path / "src/missing.c").string()));
    CHECK_FALSE(is_plain_source("src/solve.cpp"));
}

TEST_CASE("what debug info calls a source but is none is never quoted") {
    Folder folder;
    CHECK_FALSE(is_plain_source("/etc/passwd"));
    CHECK_FALSE(is_plain_source("/proc/self/environ"));
    CHECK_FALSE(is_plain_source(folder.file("notes.txt")));
    CHECK_FALSE(is_plain_source(folder.file("id_rsa")));
    CHECK_FALSE(is_plain_source(folder.file(".ssh/key.c")));
    const std::string secret = folder.file(".ssh/id_rsa");
    fs::create_symlink(secret, folder.path / "innocent.c");
    CHECK_FALSE(is_plain_source((folder.path / "innocent.c").string()));
    fs::create_symlink("/etc/passwd", folder.path / "other.c");
    CHECK_FALSE(is_plain_source((folder.path / "other.c").string()));
    CHECK_FALSE(is_plain_source(folder.path.string() + "/src/../.ssh/key.c"));
    if (geteuid() == 0) {
        const std::string foreign = folder.file("foreign.c");
        REQUIRE(chown(foreign.c_str(), 65534, 65534) == 0);
        CHECK_FALSE(is_plain_source(foreign));
    }
}

TEST_CASE("programs that came along with the run, or lie at no absolute path, are not own") {
    Folder folder;
    const std::string program = folder.file("bin/app"), brought = folder.file("run/app");
    const std::string run = (folder.path / "run").string();
    CHECK(is_own_program(program, run));
    CHECK_FALSE(is_own_program(brought, run));
    CHECK_FALSE(is_own_program(run + "/../run/app", run));
    CHECK_FALSE(is_own_program("bin/app", run));
    CHECK_FALSE(is_own_program(program, "/nonexistent"));
}

TEST_CASE("files below a source map's target are quoted, those of programs only if they are source code") {
    Folder folder;
    const std::string mapped = folder.file("mapped/any.name"), beside = folder.file("mapped-not/a.c");
    ShownSources sources({{"/build", (folder.path / "mapped").string()}}, "");
    CHECK(sources.may_show(mapped));
    CHECK_FALSE(sources.may_show(beside)); // no program names it
    CHECK_FALSE(sources.may_show((folder.path / "mapped/../mapped-not/a.c").string()));
    sources.add(beside);
    CHECK(sources.may_show(beside));
    const std::string settings = "/etc/passwd";
    sources.add(settings);
    CHECK_FALSE(sources.may_show(settings));
}
