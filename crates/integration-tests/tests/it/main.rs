//! Tests across the layers, by behaviour. Which API server they talk to is chosen by environment variables.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "in a test a panic is the report")]

mod access;
mod admission;
mod apply;
mod bad_input;
mod cache;
mod client;
mod client_certificates;
mod client_views;
mod controller;
mod definitions;
mod demo;
mod determinism;
mod examples;
mod garbage_collection;
mod informers;
mod kubectl;
mod namespaces;
mod objects;
mod optimistic_concurrency;
mod owners;
mod protobuf;
mod requests;
mod verbs;
mod watches;
