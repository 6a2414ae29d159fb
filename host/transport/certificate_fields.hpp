// Names in certificates: conversion of subject alternative names and IP addresses.
//
// Thread-safety: any thread.
#pragma once

#include <string>

#include "transport/certificates.hpp"

namespace backplane {

// Adds the DNS names and IP addresses of `spec` to the certificate. Returns false if one of them is invalid.
bool add_alternative_names(X509* certificate, const CertificateSpec& spec);
// Returns the usual text of an IP address: "0:0::1" becomes "::1". Other text is returned unchanged.
std::string canonical_address(const std::string& text);

}  // namespace backplane
