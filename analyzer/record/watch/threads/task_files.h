// The files of one thread below /proc that are read a hundred times a second, kept open: opening takes twice as long as
// reading.
#pragma once

#include "platform/task_stat.h"
#include "platform/task_syscall.h"

#include <cstdint>
#include <optional>
#include <string>

namespace plumb::record {

class TaskFiles {
  public:
    TaskFiles() = default;
    // `keep`: false opens and closes them for each read, where descriptors are scarce.
    TaskFiles(const std::string& proc_root, uint32_t pid, uint32_t tid, bool keep);
    ~TaskFiles();
    TaskFiles(TaskFiles&& other) noexcept;
    TaskFiles& operator=(TaskFiles&& other) noexcept;

    // Nothing: the thread is gone, or the kernel has no such file.
    std::optional<platform::TaskScheduling> scheduling();

    // Nothing: gone, or not ours to see; errno says which (ENOENT, ESRCH: gone).
    std::optional<platform::TaskSyscall> call();

    bool keeps() const { return keep_; }

  private:
    struct File {
        int fd = -1;
    };
    size_t read(File& file, const char* name, char* text, size_t room);
    void close_all();

    std::string folder_; // with the slash at its end
    bool keep_ = false;
    File scheduling_, call_;
};

} // namespace plumb::record
