// The paths of the objects that are loaded now, in pages of its own: the loader's names are gone as soon as another thread
// closes the object. Takes the loader's lock, calls nothing else under it. Paths without room are left out.
#pragma once

#include <link.h>
#include <stddef.h>

namespace plumb::shim {

class LoadedPaths {
  public:
    LoadedPaths();
    ~LoadedPaths();
    LoadedPaths(const LoadedPaths&) = delete;
    LoadedPaths& operator=(const LoadedPaths&) = delete;

    const char* first() const { return used_ ? text_ : nullptr; }
    const char* behind(const char* path) const; // null: there is no other

  private:
    static constexpr size_t kRoom = 256 * 1024;
    static int note(dl_phdr_info* object, size_t, void* paths);

    char* text_; // one behind the other, each ended by a null; null: no memory
    size_t used_ = 0;
};

} // namespace plumb::shim
