// Memory of no file and of this process alone, given back with the object. It is zero, becomes resident when it is touched, and is
// not reserved: more can be asked for than there is.
#pragma once

#include <cstdint>
#include <sys/mman.h>

namespace plumb::platform {

class AnonymousMemory {
  public:
    explicit AnonymousMemory(uint64_t bytes, int protection = PROT_READ | PROT_WRITE)
        : bytes_(bytes), place_(mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
    ~AnonymousMemory() {
        if (place_ != MAP_FAILED)
            munmap(place_, bytes_);
    }
    AnonymousMemory(const AnonymousMemory&) = delete;
    AnonymousMemory& operator=(const AnonymousMemory&) = delete;

    explicit operator bool() const { return place_ != MAP_FAILED; }
    char* data() const { return place_ == MAP_FAILED ? nullptr : static_cast<char*>(place_); } // at the start of a page
    uint64_t address() const { return reinterpret_cast<uint64_t>(place_); }
    uint64_t bytes() const { return bytes_; }

  private:
    const uint64_t bytes_;
    void* const place_;
};

} // namespace plumb::platform
