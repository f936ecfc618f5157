export function live() {}
