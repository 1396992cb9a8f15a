#include "placement/pin_group.h"

#include "support/error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

namespace plumb::placement {

namespace {

std::string make_private_directory() {
    const char* base = std::getenv("TMPDIR");
    for (std::string parent : {std::string(base ? base : ""), std::string("/tmp"), std::string("/dev/shm")}) {
        if (parent.empty() || parent.front() != '/')
            continue;
        std::string name = parent + "/plumb-pin-XXXXXX";
        if (mkdtemp(name.data()))
            return name;
    }
    throw Error(fmt::format("cannot make a temporary directory for the placement table: {}; set TMPDIR to a "
                            "directory that can be written", std::strerror(errno)));
}

} // namespace

PinGroup::PinGroup(const std::string& directory) {
    if (directory.empty())
        private_directory_ = make_private_directory();
    path_ = (directory.empty() ? private_directory_ : directory) + "/placement";
    const int file = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    // Allocated, not just sized: on a full disk this fails here and not as SIGBUS inside the program.
    int error = file < 0 ? errno : posix_fallocate(file, 0, sizeof(pin::Group));
    if (error == 0) {
        void* memory = mmap(nullptr, sizeof(pin::Group), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory == MAP_FAILED)
            error = errno;
        else
            table_ = static_cast<pin::Group*>(memory);
    }
    if (file >= 0)
        close(file);
    if (error != 0) {
        if (!private_directory_.empty()) {
            unlink(path_.c_str());
            rmdir(private_directory_.c_str());
        }
        throw Error(fmt::format("cannot make the placement table '{}': {}; free some space there or set TMPDIR",
                                path_, std::strerror(error)));
    }
    table_->entries = pin::kGroupEntries;
    __atomic_store_n(&table_->magic, pin::kGroupMagic, __ATOMIC_RELEASE);
}

PinGroup::~PinGroup() {
    munmap(table_, sizeof(pin::Group));
    if (private_directory_.empty())
        return;
    unlink(path_.c_str());
    rmdir(private_directory_.c_str());
}

std::vector<PinGroup::Applied> PinGroup::applied() const {
    std::vector<Applied> used;
    for (uint32_t i = 0; i < pin::kGroupEntries; ++i)
        if (table_->entry[i].uses > 0) {
            used.push_back({i, table_->entry[i]});
            used.back().entry.name[sizeof(used.back().entry.name) - 1] = '\0';
        }
    return used;
}

} // namespace plumb::placement
