// Whether anybody still waits for an answer, for work that keeps its executor: nobody can be told of a client that has gone by an executor
// that has no turn.
//
// Thread-safety: the executor of the exchange's connection; elsewhere the answer is what is known already, or false.
// Lifetime:      of the exchange.
// Errors:        none.
#pragma once

#include "backplane/http.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

// A role of exchanges that can look at their connection, and of those in front of one.
class PeerWatch {
 public:
  virtual ~PeerWatch();
  // Looks now.  A system call: ask seldom.  A client that has reset its stream and keeps the connection (HTTP/2) is not found out.
  virtual bool peer_gone() const noexcept = 0;
};

// Of whatever exchange; one that cannot look says what it has been told.
bool peer_gone(const Exchange& exchange) noexcept;

}  // namespace BACKPLANE_API
