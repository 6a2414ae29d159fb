// OpenSSL's record buffers, kept for the next record: a connection that is idle holds none (SSL_MODE_RELEASE_BUFFERS), so each record takes
// one of some 16 KiB and gives it back.  From the C library's allocator that would walk and merge its free lists every time.
//
// Thread-safety: each thread caches a few buffers.
// Lifetime:      the rest of the process; a thread's cache is freed with the thread.
#pragma once

#include <cstddef>

namespace backplane {

// Gives OpenSSL its memory from here on.  Before anything of OpenSSL has been used; false and no change afterwards.
bool keep_tls_buffers();

// How many buffers the calling thread keeps now.
std::size_t kept_tls_buffers_for_test();

}  // namespace backplane
