// Asio's code, compiled once into the host.  No type of Asio is in the SDK (plugins use Executor and Task), so a plugin may link another
// version of Asio.
#define BOOST_ASIO_SOURCE
#include <boost/asio/impl/src.hpp>
