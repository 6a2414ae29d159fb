#include "app/server_context.hpp"

#include <string>

#include "base/log.hpp"
#include "endpoints/request_series.hpp"

namespace backplane {

Result<std::unique_ptr<const ServerContext>> ServerContext::make() {
  std::unique_ptr<const ServerContext> made(new ServerContext);
  if (made->slot() == kNoServer) {
    return Status(Reason::kInternalError, "a process runs at most " + std::to_string(kMostServers) + " servers at a time");
  }
  const ServerScope server(made->slot());
  begin_request_series();
  return made;
}

ServerContext::~ServerContext() { end_server_log(slot()); }

}  // namespace backplane
