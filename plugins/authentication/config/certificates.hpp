// Validation of PEM certificates in configuration.
//
// Thread-safety: pure function.
// Source:        k8s.io/client-go/util/cert.
#pragma once

#include <string>
#include <string_view>

namespace backplane::authentication {

// Empty, or why the text is not a bundle of certificates. Blocks of other types are skipped.
std::string certificates_problem(std::string_view pem);

}  // namespace backplane::authentication
