export function compare() {}
