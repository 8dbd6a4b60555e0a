use super::{check_field_manager, field_manager_of};

#[test]
fn field_managers_default_to_the_program() {
    let long = "x".repeat(200);
    let cases = [
        ("named", "kubectl/v1.37.2 (linux/amd64)", "named"),
        ("", "kubectl/v1.37.2 (linux/amd64)", "kubectl"),
        ("", "my\u{1}pro\u{200b}gram", "myprogram"),
        ("", "", ""),
        ("", &long, &long[..128]),
    ];
    for (named, user_agent, expected) in cases {
        assert_eq!(field_manager_of(named, user_agent), expected, "{named} {user_agent}");
    }
}

#[test]
fn field_managers_are_checked() {
    let check =
        |manager: &str| -> Vec<String> { check_field_manager(manager).iter().map(ToString::to_string).collect() };
    assert_eq!(check("kubectl-edit"), [""; 0]);
    assert_eq!(check(&"x".repeat(129)), ["fieldManager: Too long: may not be more than 128 bytes"]);
    assert_eq!(
        check("a\u{1}b"),
        ["fieldManager: Invalid value: \"a\\x01b\": invalid character U+0001 (at position 1)"]
    );
}
