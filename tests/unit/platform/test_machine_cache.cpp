// What earlier runs measured: found again on the same machine since its start, and never taken from a file that somebody else
// could have written.
#include "fake_tree.h"
#include "platform/machine_cache.h"

#include <catch2/catch.hpp>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using plumb::platform::MachineCache;

namespace {

class Folder {
  public:
    Folder() { chmod(tree_.root().c_str(), 0700); }
    const std::string& path() const { return tree_.root(); }
    std::string file() const { return tree_.root() + "/machine-here"; }
    void keep(const std::string& name, const std::string& value, const std::string& machine = "boot 1") const {
        MachineCache cache(path(), "here", machine);
        cache.keep(name, value);
        cache.save();
    }
    std::optional<std::string> find(const std::string& name, const std::string& machine = "boot 1") const {
        return MachineCache(path(), "here", machine).find(name);
    }

  private:
    FakeTree tree_;
};

} // namespace

TEST_CASE("what was measured is found again, by this machine and this boot alone") {
    const Folder folder;
    CHECK(!folder.find("cost"));
    folder.keep("cost", "42");
    folder.keep("topology", std::string(100'000, 'x') + '\0' + "end");
    CHECK(folder.find("cost") == "42"); // the second writer kept what was there
    CHECK(folder.find("topology")->size() == 100'004);
    CHECK(!folder.find("cost", "boot 2"));
    folder.keep("cost", "7", "boot 2");
    CHECK(folder.find("cost", "boot 2") == "7");
    CHECK(!folder.find("cost")); // one machine a file: figures of earlier boots do not pile up
    CHECK(!MachineCache(folder.path(), "there", "boot 2").find("cost"));
    struct stat info {};
    REQUIRE(stat(folder.file().c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("a full file begins anew, so that figures are kept for ever after") {
    const Folder folder;
    const std::string large(200'000, 'x');
    for (const char* name : {"first", "second", "third", "fourth", "fifth"})
        folder.keep(name, large);
    CHECK(folder.find("first"));
    folder.keep("sixth", large);
    CHECK(folder.find("sixth") == large);
    CHECK(!folder.find("first"));
    folder.keep("cost", "42");
    CHECK(folder.find("cost") == "42");
    CHECK(folder.find("sixth"));
}

TEST_CASE("what a writer that was killed left unfinished is removed, and nothing else") {
    const Folder folder;
    const auto make = [&](const std::string& name, time_t age_s) {
        const std::string path = folder.path() + "/" + name;
        std::ofstream(path) << "unfinished";
        const timespec then{time(nullptr) - age_s, 0};
        const timespec times[2] = {then, then};
        REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
        return path;
    };
    const std::string old = make("machine-here.4711", 3600), young = make("machine-here.4712", 0),
                      of_other_host = make("machine-here.example.4711", 3600), other = make("load-cost-here.4711", 3600);
    folder.keep("cost", "42");
    CHECK(access(old.c_str(), F_OK) != 0);
    CHECK(access(young.c_str(), F_OK) == 0); // it may be being written
    CHECK(access(of_other_host.c_str(), F_OK) == 0);
    CHECK(access(other.c_str(), F_OK) == 0);
    CHECK(folder.find("cost") == "42");
}

TEST_CASE("a damaged file reads as empty, whichever byte it is, and is written anew") {
    const Folder folder;
    folder.keep("cost", "42");
    std::ifstream whole(folder.file(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(whole), {});
    for (size_t at = 0; at < bytes.size(); ++at) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
        std::ofstream(folder.file(), std::ios::binary | std::ios::trunc) << damaged;
        INFO("byte " << at);
        const auto found = folder.find("cost");
        CHECK((!found || found == "42"));
    }
    std::ofstream(folder.file(), std::ios::binary | std::ios::trunc) << bytes.substr(0, bytes.size() / 2);
    CHECK(!folder.find("cost"));
    folder.keep("cost", "43");
    CHECK(folder.find("cost") == "43");
}

TEST_CASE("files and folders that others could write, links and pipes are not read") {
    const Folder folder;
    folder.keep("cost", "42");
    SECTION("a file that others may write") {
        chmod(folder.file().c_str(), 0622);
        CHECK(!folder.find("cost"));
    }
    SECTION("a folder that others may write") {
        chmod(folder.path().c_str(), 0777);
        CHECK(!folder.find("cost"));
        folder.keep("new", "1");
        chmod(folder.path().c_str(), 0700);
        CHECK(!folder.find("new"));
    }
    SECTION("a link in place of the file") {
        const std::string other = folder.path() + "/other";
        REQUIRE(rename(folder.file().c_str(), other.c_str()) == 0);
        REQUIRE(symlink(other.c_str(), folder.file().c_str()) == 0);
        CHECK(!folder.find("cost"));
        folder.keep("cost", "43"); // replaces the link, not what it leads to
        CHECK(folder.find("cost") == "43");
        struct stat info {};
        CHECK((lstat(folder.file().c_str(), &info) == 0 && S_ISREG(info.st_mode)));
    }
    SECTION("a second name of the file") {
        REQUIRE(link(folder.file().c_str(), (folder.path() + "/other").c_str()) == 0);
        CHECK(!folder.find("cost"));
    }
    SECTION("a pipe, which is not waited for") {
        unlink(folder.file().c_str());
        REQUIRE(mkfifo(folder.file().c_str(), 0600) == 0);
        CHECK(!folder.find("cost"));
    }
    SECTION("a link in place of the folder") {
        const FakeTree tree;
        const std::string link = tree.root() + "/link";
        REQUIRE(symlink(folder.path().c_str(), link.c_str()) == 0);
        CHECK(!MachineCache(link, "here", "boot 1").find("cost"));
    }
    if (geteuid() == 0) {
        SECTION("a file of another user") {
            REQUIRE(chown(folder.file().c_str(), 65534, 65534) == 0);
            CHECK(!folder.find("cost"));
        }
    }
}

TEST_CASE("without a folder, or on a machine that does not report its boot, nothing is kept") {
    const Folder folder;
    folder.keep("cost", "42", "");
    CHECK(!folder.find("cost", ""));
    MachineCache nowhere("", "here", "boot 1");
    nowhere.keep("cost", "42");
    nowhere.save();
    CHECK(!nowhere.find("cost"));
}

TEST_CASE("a machine is another one after a restart, and with other microcode") {
    const FakeTree tree;
    CHECK(plumb::platform::machine_identity(tree.root()).empty());
    const auto identity = [&](const std::string& boot, const std::string& microcode) {
        tree.write("proc/sys/kernel/random/boot_id", boot + "\n");
        tree.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: X\nmicrocode\t: " + microcode + "\n\nprocessor\t: 1\n");
        return plumb::platform::machine_identity(tree.root());
    };
    const std::string first = identity("a", "0x1");
    CHECK(!first.empty());
    CHECK(identity("a", "0x1") == first);
    CHECK(identity("b", "0x1") != first);
    CHECK(identity("a", "0x2") != first);
}
