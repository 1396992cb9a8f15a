// The kernel's own names are read once and kept; those of modules, which come and go, are read when they are asked for.
#include "fake_tree.h"
#include "symbols/kernel_names.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using plumb::symbols::KernelNames;

namespace {

class Machine {
  public:
    Machine() {
        std::filesystem::create_directory(cache());
        chmod(cache().c_str(), 0700);
        boot("1");
        symbols("ffffffff80000000 A fixed_percpu_data\n"
                "ffffffff81000000 T _stext\n"
                "ffffffff81000100 t do_syscall_64\n"
                "ffffffff81000100 T do_syscall_64_alias\n"
                "ffffffff81000900 D some_data\n"
                "ffffffff81001000 T vfs_read\n"
                "ffffffff81002000 T _etext\n"
                "ffffffffc0000000 t xfs_read\t[xfs]\n");
    }
    const std::string& root() const { return tree_.root(); }
    std::string cache() const { return tree_.root() + "/cache"; }
    void boot(const std::string& id) { tree_.write("/proc/sys/kernel/random/boot_id", id + "\n"); }
    void symbols(const std::string& text) { tree_.write("/proc/kallsyms", text); }
    std::string kept() const {
        for (const auto& entry : std::filesystem::directory_iterator(cache()))
            return entry.path().string();
        return {};
    }
    std::string name_of(uint64_t address) const {
        KernelNames names(root(), cache());
        const auto found = names.at(address);
        return found ? found->first + "+" + std::to_string(found->second) : "";
    }

  private:
    FakeTree tree_;
};

} // namespace

TEST_CASE("names of the kernel are kept until the machine starts again") {
    Machine machine;
    CHECK(machine.name_of(0xffffffff81000110) == "do_syscall_64_alias+16");
    struct stat info {};
    REQUIRE(stat(machine.kept().c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    machine.symbols("ffffffffc0000000 t nfs_read\t[nfs]\n");
    CHECK(machine.name_of(0xffffffff81000110) == "do_syscall_64_alias+16");
    CHECK(machine.name_of(0xffffffff81001fff) == "vfs_read+4095");
    CHECK(machine.name_of(0xffffffffc0000001) == "nfs_read+1"); // never kept
    machine.boot("2");
    CHECK(machine.name_of(0xffffffff81000110).empty());
}

TEST_CASE("kernel names without a cache, of a kernel that shows no addresses, and from a file of somebody else") {
    Machine machine;
    KernelNames names(machine.root(), "");
    CHECK(names.at(0xffffffff81001000)->first == "vfs_read");
    machine.symbols("0000000000000000 T _stext\n0000000000000000 T vfs_read\n0000000000000000 T _etext\n");
    CHECK(machine.name_of(0xffffffff81001000).empty());
    CHECK(machine.kept().empty());

    Machine other;
    CHECK(!other.name_of(0xffffffff81001000).empty());
    chmod(other.kept().c_str(), 0622);
    other.symbols("ffffffff81000000 T _stext\nffffffff81001000 T new_name\nffffffff81002000 T _etext\n");
    CHECK(other.name_of(0xffffffff81001000) == "new_name+0");
}

TEST_CASE("a kept file that is cut short or changed gives no names from outside of it") {
    Machine machine;
    machine.name_of(0xffffffff81001000);
    std::ifstream whole(machine.kept(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(whole), {});
    machine.symbols("");
    const auto ask = [&](const std::string& damaged) {
        std::ofstream(machine.kept(), std::ios::binary | std::ios::trunc) << damaged;
        for (const uint64_t address : {0xffffffff81000000, 0xffffffff81000110, 0xffffffff81001fff})
            machine.name_of(address);
    };
    for (size_t length = 0; length < bytes.size(); ++length)
        ask(bytes.substr(0, length));
    for (size_t at = 0; at < bytes.size(); ++at) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
        ask(damaged);
    }
}
