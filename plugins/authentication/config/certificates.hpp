// Validation of PEM certificates in configuration.
//
// Thread-safety: pure function.
// Source:        k8s.io/client-go/util/cert.
#pragma once

#include <string>
#include <string_view>

namespace backplane::authentication {

// Returns why the text is not a bundle of certificates; empty: it is one. Skips PEM blocks of other types.
std::string certificates_problem(std::string_view pem);

}  // namespace backplane::authentication
