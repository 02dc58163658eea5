//! The seed's runtime contracts as pure state machines (contracts.md): gates, routing, context,
//! the task store, operations, liveness and trace.
