// The code of Asio, which is compiled only once into the host.  The SDK contains no type of Asio (plugins use Executor and Task), so a
// plugin may link another version of Asio.
#define BOOST_ASIO_SOURCE
#include <boost/asio/impl/src.hpp>
