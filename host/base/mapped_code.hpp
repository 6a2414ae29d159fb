// Unmaps code and constants that the process has read, most of them only at startup: embedded documents, relocation tables, functions that
// run once. A page that is read again comes back from the page cache, without a copy from the disk as long as it is there.
//
// Thread-safety: any thread; other threads may run the code meanwhile.
// Errors:        none; pages that the kernel keeps (mlock) stay.
#pragma once

namespace backplane {

// Of the executable and of all loaded libraries; what the loader has relocated is not touched.
void unmap_read_code() noexcept;

}  // namespace backplane
