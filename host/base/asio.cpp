// Asio's own code, compiled once, into the host: nothing of Asio crosses the border to the SDK and the plugins (their words are Executor
// and Task), so a plugin that brings Asio for itself and this one never meet.
#define BOOST_ASIO_SOURCE
#include <boost/asio/impl/src.hpp>
