set(sources rows.cpp api_references.cpp node_labels.cpp node_request.cpp node_restriction.cpp node_taint.cpp restrict_certificates.cpp
  restrict_claims.cpp restrict_node.cpp restrict_owned.cpp restrict_pods.cpp restrict_tokens.cpp volume_drivers.cpp)
set(tests node_restriction_test.cpp node_taint_test.cpp)
