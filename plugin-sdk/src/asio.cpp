// Asio's own code, compiled once for the whole process: a second copy in a plugin would have a call stack of its own, and dispatch()
// would silently become post().
#define BOOST_ASIO_SOURCE
#include <boost/asio/impl/src.hpp>
